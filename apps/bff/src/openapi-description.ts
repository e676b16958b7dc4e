import type { OpenApiOptions } from '#libs/server';
import { type DocumentSchema, type DocumentSchemas, exampleOf } from './openapi-examples.js';

type Content = Record<string, { schema?: DocumentSchema; example?: unknown }>;

interface Operation {
  parameters?: { name: string; in: string }[];
  requestBody?: { content?: Content };
  responses?: Record<string, { description: string; content?: Content; headers?: Record<string, object> }>;
}

const writing = new Set(['post', 'put', 'patch', 'delete']);

const refusals: Readonly<Record<string, [description: string, code: string, detail: string]>> = {
  400: [
    'A member is faulty; the issues name it.',
    'INVALID_PROPERTY_UNEXPECTED_VALUE',
    'limit must not be less than 1',
  ],
  401: ['Not signed in.', 'CREDENTIALS_INVALID', 'A valid session token or merchant API key is needed'],
  404: ['Not known, or somebody else’s.', 'NOT_FOUND', 'The account is not known'],
  409: ['Against the state of things.', 'CONFLICT', 'The customer of this reference is being deleted'],
  422: [
    'The key came with another request.',
    'IDEMPOTENCY_KEY_REUSED',
    'The Idempotency-Key was used with another request',
  ],
  429: [
    'Too many calls; `Retry-After` says how long to wait.',
    'TOO_MANY_REQUESTS',
    'Too many requests, try again in 12 s',
  ],
  503: [
    'Not now: the aggregator cannot be reached.',
    'SERVICE_UNAVAILABLE',
    'The aggregator cannot be reached at the moment',
  ],
};

const idempotencyKey = {
  name: 'idempotency-key',
  in: 'header',
  required: false,
  description:
    'Makes a repetition safe for 30 days: the same key with the same request is answered as the first time, with ' +
    '`Idempotency-Replayed: true`; with another request it is 422, while the first is under way 409 with `Retry-After`.',
  schema: { type: 'string', minLength: 1, maxLength: 202 },
  example: '8e03978e-40d5-43e8-bc93-6894a57f9324',
};

const limitHeaders = {
  'RateLimit-Policy': {
    description: 'The quota and its window in seconds.',
    schema: { type: 'string' },
    example: '"api-key";q=60000;w=60',
  },
  RateLimit: {
    description: 'What is left of it, and for how many seconds.',
    schema: { type: 'string' },
    example: '"api-key";r=59999;t=60',
  },
};

/** What /docs and `npm run openapi` say about the whole. */
export const describedAs: OpenApiOptions = {
  title: 'Tributary for merchants',
  version: '1.0.0',
  description:
    'Connect customers’ banks, read their accounts and transactions, take payments. A merchant’s backend signs in with its API key ' +
    'and names a customer in the header `customer-id`; a frontend signs in with the token of a session. Errors are RFC 9457 problem details. A query parameter that a route does not ' +
    'know is refused, lest a misspelt filter bring everything.',
  security: ['bearer'],
  complete: (document) => {
    const schemas = (document.components?.schemas ?? {}) as DocumentSchemas;
    for (const item of Object.values(document.paths)) {
      for (const [method, operation] of Object.entries(item))
        completeOperation(operation as Operation, method, schemas);
    }
  },
};

/** What holds for every operation alike: the key of writes, the limits, the refusals, and an example of each body. */
function completeOperation(operation: Operation, method: string, schemas: DocumentSchemas): void {
  const isWrite = writing.has(method);
  const parameters = operation.parameters ?? [];
  if (isWrite && !parameters.some(({ name }) => name === idempotencyKey.name)) {
    operation.parameters = [...parameters, idempotencyKey];
  }
  const responses = operation.responses ?? {};
  for (const [status, response] of Object.entries(responses)) {
    if (status.startsWith('2')) response.headers = { ...limitHeaders, ...response.headers };
  }
  const problem = responses['default']?.content?.['application/problem+json']?.schema;
  for (const [status, refusal] of Object.entries(refusals)) {
    if (!problem || responses[status] || (!isWrite && (status === '409' || status === '422'))) continue;
    responses[status] = { description: refusal[0], content: { 'application/problem+json': { schema: problem } } };
  }
  for (const [status, { content = {} }] of Object.entries(responses)) addExamples(content, { schemas, status });
  addExamples(operation.requestBody?.content ?? {}, { schemas });
}

function addExamples(content: Content, { schemas, status }: { schemas: DocumentSchemas; status?: string }): void {
  for (const [type, media] of Object.entries(content)) {
    if (media.example !== undefined || !media.schema) continue;
    media.example = type === 'application/problem+json' ? problemOf(status ?? '') : exampleOf(media.schema, schemas);
  }
}

function problemOf(status: string): object {
  const [title, code, detail] = refusals[status] ?? ['Failed', 'INTERNAL_SERVER_ERROR', 'An unexpected error occurred'];
  return {
    type: 'about:blank',
    title,
    status: Number(status) || 500,
    detail,
    instance: '/v1/accounts',
    tracingId: '5c8a2a1d3f0b4e6c9d7e8f9012345678',
    code,
    issues: [{ code, message: detail }],
  };
}
