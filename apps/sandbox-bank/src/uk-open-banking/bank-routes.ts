import { randomUUID } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Provider } from 'oidc-provider';
import type { Ledger } from '../ledger.js';
import type { BankContext } from '../oidc/authorisation-server.js';
import type { FaultName } from '../scenarios.js';
import { Access } from './access.js';
import { registerAccountConsents } from './account-consents.js';
import { registerAccountData, type AccountRoutes } from './account-data.js';
import { BankError, refusals } from './error.js';
import { MessageSigner } from './message-signature.js';
import { registerParties } from './parties.js';
import { registerPaymentConsents } from './payment-consents.js';
import { registerPayments } from './payments.js';
import { keepRawBody } from './raw-body.js';
import { registerRegularPayments } from './regular-payments.js';
import { registerStatements } from './statements.js';
import { registerTransactions } from './transactions.js';
import { toVersion } from './version-face.js';

export interface BankRoutes {
  context: BankContext;
  provider: Provider;
  ledger: Ledger;
  faultOf: (request: FastifyRequest) => FaultName | undefined;
}

/** The resource servers of one bank: `aisp` and `pisp` of Read/Write v4.0 or v3.1, and the keys its message signatures verify with. */
export async function registerBank(
  app: FastifyInstance,
  { context, provider, ledger, faultOf }: BankRoutes,
): Promise<void> {
  const { bank, keys } = context;
  const access = new Access(context, provider);
  const signer = new MessageSigner(context);
  app.get(`/banks/${bank.id}/signing/jwks`, () => ({ keys: [keys.publicJwk] }));
  await app.register(async (scope) => {
    keepRawBody(scope);
    scope.addHook('onRequest', async (request, reply) => {
      const given = request.headers['x-fapi-interaction-id'];
      reply.header('x-fapi-interaction-id', typeof given === 'string' && given !== '' ? given : randomUUID());
      reply.header('cache-control', 'no-store');
      const { accept } = request.headers;
      const type = request.url.endsWith('/file') ? /application\/(?:pdf|\*)|\*\/\*/ : /application\/(?:json|\*)|\*\/\*/;
      if (accept !== undefined && !type.test(accept)) throw refusals.notAcceptable();
    });
    scope.setErrorHandler((error: unknown, _request, reply) => sendError(error, reply, context));
    scope.addHook('preSerialization', async (_request, _reply, payload) =>
      typeof payload === 'object' && payload !== null ? toVersion(bank.version, payload) : payload,
    );
    registerAccountConsents(scope, context, access);
    registerAccountData(scope, context, access, ledger);
    registerTransactions(scope, context, access, ledger, faultOf);
    if (bank.hasMoreData) registerMoreData(scope, { context, access, ledger });
    await scope.register(async (payments) => {
      payments.addHook('onSend', (request, reply, payload) => signer.attach(request, reply, payload, faultOf(request)));
      registerPaymentConsents(payments, { context, access, ledger, signer, faultOf });
      registerPayments(payments, { context, access, ledger, signer, faultOf });
    });
  });
}

/** What the standard leaves to the bank; where a bank lacks it, its addresses are not there (404). */
function registerMoreData(scope: FastifyInstance, routes: AccountRoutes): void {
  registerRegularPayments(scope, routes);
  registerStatements(scope, routes);
  registerParties(scope, routes);
}

function sendError(error: unknown, reply: FastifyReply, { bank, report }: BankContext): FastifyReply {
  const known = error instanceof BankError ? error : refusalOf(error);
  if (known.status >= 500) report(error);
  reply.code(known.status);
  if (known.status === 401) reply.header('www-authenticate', 'Bearer error="invalid_token"');
  if (known.body === undefined) return reply.send();
  return reply
    .header('content-type', 'application/json; charset=utf-8')
    .send(JSON.stringify(toVersion(bank.version, known.body)));
}

/** Fastify's own complaints about a request, in the standard's words. */
function refusalOf(error: unknown): BankError {
  const status = typeof error === 'object' && error !== null && 'statusCode' in error ? error.statusCode : undefined;
  if (status === 415) return refusals.unsupportedMedia();
  return status === 400 || status === 413 ? refusals.malformed('The body cannot be read') : refusals.unexpected();
}
