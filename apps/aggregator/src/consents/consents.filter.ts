import { AuthorisationStatus, Choice, DateTime, Flag, Integer, pageSizeMax, Text, Uuid } from '#libs/contract';

const filterMax = 100;

/** The query of GET /consents. */
export class ConsentsFilter {
  @Text({ optional: true, array: { max: filterMax }, query: true }) 'filter[applicationUserId]'?: string[];
  @Uuid({ optional: true, array: { max: filterMax }, query: true }) 'filter[userUuid]'?: string[];
  @Text({ optional: true, array: { max: filterMax }, query: true }) 'filter[institution]'?: string[];
  @Choice(AuthorisationStatus, 'AuthorisationStatus', { optional: true, array: { max: filterMax }, query: true })
  'filter[status]'?: AuthorisationStatus[];
  @DateTime({ optional: true, query: true }) from?: string;
  @DateTime({ optional: true, query: true }) before?: string;
  @Integer({ optional: true, query: true, min: 1, max: pageSizeMax, format: 'int32' }) limit?: number;
  @Integer({ optional: true, query: true, min: 0, max: 2_147_483_647, format: 'int32', default: 0 }) offset?: number;
}

/** The query of DELETE /consents/{consentId}. */
export class ConsentDeletion {
  @Flag({ optional: true, query: true, default: true }) forceDelete?: boolean;
}
