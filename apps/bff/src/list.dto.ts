import { Flag, Integer, Text } from '#libs/contract';

/** How a list is asked for page by page. */
export class ListQuery {
  @Integer({ query: true, optional: true, min: 1, max: 500, default: 100 }) limit?: number;
  @Text({ optional: true, maxLength: 200, description: '`nextCursor` of the page before.' }) cursor?: string;
}

/** What a page says of the pages behind it. */
export class ListPage {
  @Flag() hasMore!: boolean;
  @Text({ optional: true, description: 'Present when there is more.' }) nextCursor?: string;
}
