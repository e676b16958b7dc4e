import { Transform } from 'class-transformer';
import { ApplicationResponse, Choice, enumeration, Flag, Integer, Nested, Text, Url, Uuid } from '#libs/contract';

/** The user groups that the interface lists. */
export const PpcUserGroup = enumeration(
  'WHOLESALE_FI_FI',
  'COMMERCIAL',
  'CONSUMER_GOODS_SERVICES',
  'FINANCE',
  'INSURANCE',
  'PROPERTY',
  'UTILITIES',
  'TAX',
  'SALARIES_INCOMES',
  'INVESTMENTS',
  'FOREIGN_EXCHANGE',
  'GOVERNMENT',
  'BENEFIT_PAYMENTS',
  'MEDICAL',
  'PENSIONS',
);

export const ApplicationSort = enumeration('last_updated', '-last_updated', 'name', '-name', 'uuid', '-uuid');
export type ApplicationSort = keyof typeof ApplicationSort;

/**
 * The body of POST and PUT: stricter than the contract's ApplicationRequest, which documents it, about groups, addresses
 * and lengths, and more lenient about the category code.
 */
export class ApplicationBody {
  @Text({ pattern: /^[a-zA-Z0-9 \-_[\]()]+$/, maxLength: 256 }) name!: string;
  /** The interface's own example is a number, its schema a text of four digits: both are taken. */
  @Transform(({ value }: { value: unknown }) => (Number.isInteger(value) ? String(value).padStart(4, '0') : value))
  @Text({ pattern: /^\d{4}$/ })
  merchantCategoryCode!: string;
  @Choice(PpcUserGroup, 'PpcUserGroup') ppcUserGroup!: string;
  @Url({ optional: true, array: { max: 100 } }) callbackUrls?: string[];
  @Flag() isContractPresent!: boolean;
}

/** The query of GET /applications. */
export class ApplicationSearch {
  @Uuid({ optional: true, query: true, array: { max: 15 } }) applicationIds?: string[];
  @Integer({ optional: true, query: true, min: 0, max: 2_147_483_647, default: 0 }) offset?: number;
  @Integer({ optional: true, query: true, min: 1, max: 1_000, default: 1_000 }) limit?: number;
  @Choice(ApplicationSort, 'ApplicationSort', { optional: true, query: true, default: 'name' }) sort?: ApplicationSort;
}

/** Which page of the list this is. */
export class ApplicationPage {
  @Integer({ always: true, min: 0, format: 'int32' }) offset!: number;
  @Integer({ always: true, min: 0, format: 'int32' }) limit!: number;
  @Text({ always: true }) sort!: string;
}

export class ApplicationPagination {
  @Nested(() => ApplicationPage, { always: true }) self!: ApplicationPage;
  @Integer({ always: true, min: 0, format: 'int32' }) totalCount!: number;
}

export class ApplicationResponseListMeta {
  @Text({ always: true }) tracingId!: string;
  @Integer({ always: true, min: 0, format: 'int32' }) count!: number;
  @Nested(() => ApplicationPagination, { always: true }) pagination!: ApplicationPagination;
}

/** The answer of GET /applications; its sorting is its own, so it is not the envelope of the other lists. */
export class ApiListOfApplicationResponse {
  @Nested(() => ApplicationResponseListMeta, { always: true }) meta!: ApplicationResponseListMeta;
  @Nested(() => ApplicationResponse, { always: true, array: true }) data!: ApplicationResponse[];
}
