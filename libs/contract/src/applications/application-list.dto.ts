import { Integer, Nested, Text } from '../field.js';
import { ApplicationResponse } from './application.dto.js';

export class ApplicationPageSelf {
  @Integer({ optional: true, format: 'int32', min: 0 }) offset?: number;
  @Integer({ optional: true, format: 'int32', min: 0 }) limit?: number;
  @Text({ optional: true }) sort?: string;
}

export class ApplicationPagination {
  @Nested(() => ApplicationPageSelf, { optional: true }) self?: ApplicationPageSelf;
  @Integer({ optional: true, format: 'int32', min: 0 }) totalCount?: number;
}

export class ApplicationResponseListMeta {
  @Text({ always: true }) tracingId!: string;
  @Integer({ optional: true, format: 'int32', min: 0 }) count?: number;
  @Nested(() => ApplicationPagination, { optional: true }) pagination?: ApplicationPagination;
}

export class ApiListOfApplicationResponse {
  @Nested(() => ApplicationResponseListMeta, { always: true }) meta!: ApplicationResponseListMeta;
  @Nested(() => ApplicationResponse, { always: true, array: true }) data!: ApplicationResponse[];
}
