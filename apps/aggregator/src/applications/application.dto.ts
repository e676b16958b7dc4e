import { Choice, enumeration, Integer, Uuid } from '#libs/contract';

export const ApplicationSort = enumeration('last_updated', '-last_updated', 'name', '-name', 'uuid', '-uuid');
export type ApplicationSort = keyof typeof ApplicationSort;

/** The query of GET /applications. */
export class ApplicationSearch {
  @Uuid({ optional: true, query: true, array: { max: 15 } }) applicationIds?: string[];
  @Integer({ optional: true, query: true, min: 0, max: 2_147_483_647, default: 0 }) offset?: number;
  @Integer({ optional: true, query: true, min: 1, max: 1_000, default: 1_000 }) limit?: number;
  @Choice(ApplicationSort, 'ApplicationSort', { optional: true, query: true, default: 'name' }) sort?: ApplicationSort;
}
