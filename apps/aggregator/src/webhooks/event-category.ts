/** Every category a webhook can subscribe to, with the description that GET /webhook/events/categories shows. */
export const eventCategories = {
  'payment.state.success': 'A payment reached a final successful status',
  'payment.state.failed': 'A payment reached a final failed status',
  'single_payment.status.updated': 'The status of a single payment changed to COMPLETED or FAILED',
  'single_payment.status.completed': 'The status of a single payment became COMPLETED',
  'single_payment.iso_status.updated': 'The ISO status of a single payment changed',
  'hosted_pis.payment_status.completed.v1': 'A payment made on the hosted pages completed',
  'hosted_pis.payment_status.failed.v1': 'A payment made on the hosted pages failed',
  'transactions.categorisation.completed': 'A categorisation of transactions is ready',
  'transactions.categorisation.failed': 'A categorisation of transactions failed',
  'categorisation.feedback_status.updated.v1': 'The review status of feedback on a categorisation changed',
  'commercial_vrp.dormant_consent.warning.v1':
    'A commercial VRP consent is about to be revoked because it has not been used for 13 months',
} as const;

export type EventCategory = keyof typeof eventCategories;

/** Whether `text` names a category. */
export function isEventCategory(text: string): text is EventCategory {
  return Object.hasOwn(eventCategories, text);
}
