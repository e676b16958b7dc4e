import { QueueModule } from '#libs/database';

// Made once: Nest takes each call of `register` for another module, and each would open connections of its own.
// One attempt each: the row stays due, and the tick after its lease tries again.
export const syncQueue = QueueModule.register('sync', { attempts: 1, backoff: false, deadlineMs: 900_000 });
export const consentsQueue = QueueModule.register('consents', { attempts: 1, backoff: false, deadlineMs: 120_000 });
export const paymentsQueue = QueueModule.register('payments', { attempts: 1, backoff: false, deadlineMs: 120_000 });
export const ingestionQueue = QueueModule.register('ingestion', { attempts: 1, backoff: false, deadlineMs: 120_000 });
export const webhooksQueue = QueueModule.register('webhooks', { attempts: 1, backoff: false, deadlineMs: 50_000 });
export const upkeepQueue = QueueModule.register('upkeep', { attempts: 1, backoff: false, deadlineMs: 900_000 });
