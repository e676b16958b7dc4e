import { Text } from '#libs/contract';

/** The query of GET /users. */
export class UsersFilter {
  @Text({ optional: true, array: { max: 1_000 }, query: true }) 'filter[applicationUserId]'?: string[];
}
