import { currentScope, resumeScope } from './scope.js';

interface PendingRequest {
  transaction?: unknown;
}

interface LoaderOptions {
  batchBy: (request: PendingRequest) => string | undefined;
  singleLoader: (request: PendingRequest) => Promise<unknown>;
  batchLoader: (requests: PendingRequest[]) => Promise<unknown>;
}

function isLoaderOptions(value: unknown): value is LoaderOptions {
  return ['batchBy', 'singleLoader', 'batchLoader'].every((name) => typeof member(value, name) === 'function');
}

function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}

/**
 * Keeps scopes apart inside a Prisma client. Prisma gathers the `findUnique` calls and batch transactions of one tick and
 * sends them from whatever code came first, which would run one caller's query in another caller's scope. Here every
 * request keeps the scope it was made in, and only requests of one scope are gathered. This reaches into the client
 * (7.10), so it refuses to start where the client has changed; `prisma-scopes.spec.ts` shows the leak it prevents.
 */
export function keepScopesApart(client: object): void {
  const loader = member(member(client, '_requestHandler'), 'dataloader');
  const options = member(loader, 'options');
  if (!isLoaderOptions(options)) throw new Error('This version of Prisma batches differently: see keepScopesApart.');
  const scopes = new WeakMap<PendingRequest, string>();
  const { batchBy, singleLoader, batchLoader } = options;
  const scopeOfRequest = (request: PendingRequest | undefined) => (request && scopes.get(request)) ?? '';

  options.batchBy = (request) => {
    scopes.set(request, currentScope());
    const key = batchBy.call(options, request);
    return key === undefined ? undefined : `${key}|${currentScope()}`;
  };
  options.singleLoader = (request) => resumeScope(scopeOfRequest(request), () => singleLoader.call(options, request));
  options.batchLoader = (requests) =>
    resumeScope(scopeOfRequest(requests[0]), () => batchLoader.call(options, requests));
}
