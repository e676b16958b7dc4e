import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { toWire } from '../clock.js';
import type { Ledger } from '../ledger.js';
import { toMinor } from '../money.js';
import type { BankContext } from '../oidc/authorisation-server.js';
import type { FaultName } from '../scenarios.js';
import type { Access } from './access.js';
import { isAuthorised } from './consent-state.js';
import type { Consent } from './consents.js';
import { initiationOf } from './debtor.js';
import { refusals } from './error.js';
import { attemptOf, earlierResource, remember } from './idempotency.js';
import type { MessageSigner } from './message-signature.js';
import { readPaymentConsent } from './payment-request.js';

export interface PaymentRoutes {
  context: BankContext;
  access: Access;
  ledger: Ledger;
  signer: MessageSigner;
  faultOf: (request: FastifyRequest) => FaultName | undefined;
}

/** Whether the debtor can pay: what is available, with the overdraft. */
export function hasFunds(ledger: Ledger, consent: Consent): boolean {
  const account = ledger.account(consent.accountIds[0] ?? '');
  const amount = toMinor(initiationOf(consent).InstructedAmount.Amount) ?? 0;
  return account !== undefined && ledger.balances(account).availableMinor + account.creditLimitMinor >= amount;
}

/** Read/Write v4.0, domestic payment consents: POST, GET, funds confirmation. */
export function registerPaymentConsents(app: FastifyInstance, routes: PaymentRoutes): void {
  const { context, access } = routes;
  const path = `/banks/${context.bank.id}/open-banking/${context.bank.version}/pisp/domestic-payment-consents`;
  app.post(path, (request, reply) => create(routes, request, reply));
  app.get(`${path}/:consentId`, async (request, reply) => {
    const { clientId } = await access.asTpp(request, 'payment');
    return reply.send(toBody(context, consentOf(context, request, clientId)));
  });
  app.get(`${path}/:consentId/funds-confirmation`, (request, reply) => confirmFunds(routes, request, reply));
}

async function create(routes: PaymentRoutes, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { context, access, signer } = routes;
  const { bank, consents, store } = context;
  const { clientId } = await access.asTpp(request, 'payment');
  const attempt = attemptOf(request, clientId, 'domestic-payment-consents');
  await signer.verify(request, clientId);
  const earlier = earlierResource(context, attempt);
  const known = earlier === undefined ? undefined : consents.find(bank.id, earlier);
  if (known) return reply.code(201).send(toBody(context, known));
  const asked = readPaymentConsent(request.body, bank.version);
  const consent = store.transaction(() => {
    const made = consents.create({ bank: bank.id, clientId, family: 'payment', request: asked });
    remember(context, attempt, made.id);
    return made;
  });
  return reply.code(201).send(toBody(context, consent));
}

async function confirmFunds(
  routes: PaymentRoutes,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { context, access, ledger, faultOf } = routes;
  const { clientId, consent } = await access.asPsu(request, 'payment');
  if (consentOf(context, request, clientId).id !== consent.id) {
    throw refusals.forbidden('The token belongs to another consent');
  }
  if (!isAuthorised(consent.status)) throw refusals.consentStatus('The consent is not authorised');
  context.payments.settle(context.bank.id);
  const FundsAvailable = faultOf(request) !== 'insufficient-funds' && hasFunds(ledger, consent);
  return reply.send({
    Data: { FundsAvailableResult: { FundsAvailableDateTime: toWire(context.clock.now()), FundsAvailable } },
    Links: { Self: `${selfOf(context, consent)}/funds-confirmation` },
    Meta: { TotalPages: 1 },
  });
}

function consentOf({ bank, consents }: BankContext, request: FastifyRequest, clientId: string): Consent {
  const consent = consents.find(bank.id, (request.params as { consentId: string }).consentId);
  if (!consent || consent.clientId !== clientId || consent.family !== 'payment') throw refusals.notFound('The consent');
  return consent;
}

function selfOf({ resources, bank }: BankContext, consent: Consent): string {
  return `${resources}/open-banking/${bank.version}/pisp/domestic-payment-consents/${consent.id}`;
}

function toBody(context: BankContext, consent: Consent): object {
  return {
    Data: {
      ConsentId: consent.id,
      CreationDateTime: toWire(consent.createdAt),
      Status: consent.status,
      StatusUpdateDateTime: toWire(consent.statusAt),
      ...(consent.reason !== undefined && {
        StatusReason: [{ StatusReasonCode: 'U036', StatusReasonDescription: consent.reason }],
      }),
      ...consent.request.data,
    },
    Risk: consent.request.risk,
    Links: { Self: selfOf(context, consent) },
    Meta: { TotalPages: 1 },
  };
}
