import type { OpenApiOptions } from '#libs/server';

/** What /docs and `npm run openapi` say about the whole. */
export const describedAs: OpenApiOptions = {
  title: 'Tributary for merchants',
  version: '1.0.0',
  description:
    'Connect customers’ banks, read their accounts and transactions, take payments. A merchant’s backend signs in with its API key ' +
    'and names a customer in the header `customer-id`; a frontend signs in with the token of a session. Errors are RFC 9457 problem details.',
  security: ['bearer'],
};
