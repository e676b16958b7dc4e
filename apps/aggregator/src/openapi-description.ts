import type { OpenApiOptions } from '#libs/server';

/** How the interface introduces itself in /docs and in the written document. */
export const describedAs: OpenApiOptions = {
  title: 'Open Banking Aggregation Service',
  version: '12.17.0',
  security: ['basic'],
};
