import type { components } from './generated/merchant-api.js';

/** The members of the merchants' API, by the name of their schema. */
export type Schemas = components['schemas'];

/** A refusal or failure of the merchants' API, with its problem details (RFC 9457) where the answer has them. */
export class MerchantApiError extends Error {
  override readonly name = 'MerchantApiError';

  constructor(
    readonly status: number,
    readonly problem: Schemas['ProblemDetails'] | undefined,
  ) {
    super(`The merchants' API answered ${status}: ${problem?.detail ?? 'without problem details'}`);
  }
}

/** The problem details that an answer's body holds; a proxy's page, say, holds none. */
export function problemIn(body: unknown): Schemas['ProblemDetails'] | undefined {
  return isProblem(body) ? body : undefined;
}

function isProblem(body: unknown): body is Schemas['ProblemDetails'] {
  return typeof body === 'object' && body !== null && 'status' in body && 'title' in body && 'detail' in body;
}
