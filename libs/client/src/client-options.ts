import type { Dispatcher } from 'undici';
import type {
  ApiVersion,
  AuthorisationStatus,
  EndpointMethod,
  PaymentTypeOfConstraints,
  PsuHeaders,
  SortEnum,
  TransactionDetail,
} from '#libs/contract';

export interface ClientOptions {
  /** Of the aggregator, or of the hosted vendor. */
  baseUrl: string;
  applicationId: string;
  applicationSecret: string;
  /** For one call as a whole; 30 s unless said otherwise. */
  timeoutMs?: number;
  /** The version of the interface to ask for at every call; version 1 unless said otherwise. */
  apiVersion?: ApiVersion;
  /** Where connections come from; a pool of the client's own unless said otherwise. */
  dispatcher?: Dispatcher;
  /** The tracing id of the work at hand, asked for at every call and sent along. */
  tracingId?: () => string | undefined;
}

/** What a list of transactions, statements or consents may be asked for; dates as ISO text or `Date`. */
export interface PageOptions {
  from?: Date | string;
  before?: Date | string;
  limit?: number;
  offset?: number;
  sort?: SortEnum;
}

export interface TransactionOptions extends PageOptions {
  /** Enrichment to add to each transaction. */
  with?: TransactionDetail[];
  psu?: PsuHeaders;
}

/** The first page is chosen by dates, every other page by the cursor that a page before it gave. */
export interface CursorOptions {
  from?: Date | string;
  before?: Date | string;
  cursor?: string;
  psu?: PsuHeaders;
}

export interface ConsentFilter extends Omit<PageOptions, 'sort'> {
  applicationUserId?: string[];
  userUuid?: string[];
  institution?: string[];
  status?: AuthorisationStatus[];
}

export interface ApplicationFilter {
  applicationIds?: string[];
  offset?: number;
  limit?: number;
  sort?: 'last_updated' | '-last_updated' | 'name' | '-name' | 'uuid' | '-uuid';
}

export interface ConstraintsFilter {
  institutionIds: string[];
  /** Two letters. */
  institutionCountryCode: string;
  endpointPath?: string;
  endpointMethod?: EndpointMethod;
}

export interface PaymentConstraintsFilter extends ConstraintsFilter {
  paymentType: PaymentTypeOfConstraints;
}
