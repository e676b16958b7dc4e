/** `creating` is an intent that a crash may have left behind; it is resumed, never repeated. */
export const MerchantStatus = { creating: 'creating', active: 'active' } as const;
export type MerchantStatus = (typeof MerchantStatus)[keyof typeof MerchantStatus];

export function isActive(status: string): boolean {
  return status === MerchantStatus.active;
}

const creationMs = 60_000;

/** Whether nobody can still be working on the creation. */
export function isCutOff(intent: { status: string; createdAt: Date }, at: Date): boolean {
  return intent.status === MerchantStatus.creating && at.getTime() - intent.createdAt.getTime() > creationMs;
}
