/** `deleting` ends with the row itself: a customer who is being deleted never comes back. */
export const CustomerStatus = { active: 'active', deleting: 'deleting' } as const;
export type CustomerStatus = (typeof CustomerStatus)[keyof typeof CustomerStatus];
