import { QueueModule } from '#libs/database';

// Made once: Nest takes each call of `register` for another module, and each would open connections of its own.
export const syncQueue = QueueModule.register('sync');
export const paymentsQueue = QueueModule.register('payments');
export const ingestionQueue = QueueModule.register('ingestion');
