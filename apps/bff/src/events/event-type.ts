/** Everything that a merchant is told of: what it is about, and what happened to it. */
export const EventType = {
  'connection.updated': 'connection.updated',
  'connection.synced': 'connection.synced',
  'connection.expiring': 'connection.expiring',
  'connection.renewal': 'connection.renewal',
  'account.balance-mismatch': 'account.balance-mismatch',
  'account.balance-agreed': 'account.balance-agreed',
  'account.linked': 'account.linked',
  'account.renumbered': 'account.renumbered',
  'account.unresolved': 'account.unresolved',
  'account.joined': 'account.joined',
  'institution.outage-began': 'institution.outage-began',
  'institution.outage-ended': 'institution.outage-ended',
  'customer.deleted': 'customer.deleted',
  'payment.updated': 'payment.updated',
  'payment.completed': 'payment.completed',
  'payment.failed': 'payment.failed',
  'webhook.handled': 'webhook.handled',
  'webhook_endpoint.disabled': 'webhook_endpoint.disabled',
  'webhook_endpoint.ping': 'webhook_endpoint.ping',
} as const;
export type EventType = keyof typeof EventType;
