import type { Schemas } from '#libs/merchant-client';

export type Institution = Schemas['InstitutionView'];
export type Connection = Schemas['ConnectionView'];
export type Forecast = Schemas['Forecast'];
export type Renewal = Schemas['RenewalView'];
/** A synchronisation, while it runs and after. */
export type SyncRun = Schemas['SyncProgress'];
export type Account = Schemas['AccountView'];
export type Transaction = Schemas['TransactionView'];
export type TransactionFlag = Schemas['TransactionFlag'];
export type Payment = Schemas['PaymentView'];
export type NewPayment = Schemas['NewPayment'];
export type LoggedEvent = Schemas['EventView'];
