import type { Dispatcher } from 'undici';
import type { AuthorisationStatus, SortEnum } from '#libs/contract';

export interface ClientOptions {
  /** Of the aggregator, or of the hosted vendor. */
  baseUrl: string;
  applicationId: string;
  applicationSecret: string;
  /** For one call as a whole; 30 s unless said otherwise. */
  timeoutMs?: number;
  /** Where connections come from; a pool of the client's own unless said otherwise. */
  dispatcher?: Dispatcher;
  /** The tracing id of the work at hand, asked for at every call and sent along. */
  tracingId?: () => string | undefined;
}

/** What a transactions or consents list may be asked for; dates as ISO text or `Date`. */
export interface PageOptions {
  from?: Date | string;
  before?: Date | string;
  limit?: number;
  offset?: number;
  sort?: SortEnum;
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
