import type { FastifyInstance, FastifyRequest } from 'fastify';
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
export function registerPaymentConsents(
  app: FastifyInstance,
  { context, access, ledger, signer, faultOf }: PaymentRoutes,
): void {
  const { bank, issuer, consents, clock } = context;
  const path = `/banks/${bank.id}/open-banking/v4.0/pisp/domestic-payment-consents`;
  const self = `${issuer}/open-banking/v4.0/pisp/domestic-payment-consents`;
  const toBody = (consent: Consent): object => ({
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
    Links: { Self: `${self}/${consent.id}` },
    Meta: { TotalPages: 1 },
  });
  const consentOf = (request: FastifyRequest, clientId: string): Consent => {
    const consent = consents.find(bank.id, (request.params as { consentId: string }).consentId);
    if (!consent || consent.clientId !== clientId || consent.family !== 'payment')
      throw refusals.notFound('The consent');
    return consent;
  };

  app.post(path, async (request, reply) => {
    const { clientId } = await access.asTpp(request, 'payment');
    const attempt = attemptOf(request, clientId, 'domestic-payment-consents');
    await signer.verify(request, clientId);
    const earlier = earlierResource(context, attempt);
    const known = earlier === undefined ? undefined : consents.find(bank.id, earlier);
    if (known) return reply.code(201).send(toBody(known));
    const asked = readPaymentConsent(request.body);
    const consent = context.store.transaction(() => {
      const made = consents.create({ bank: bank.id, clientId, family: 'payment', request: asked });
      remember(context, attempt, made.id);
      return made;
    });
    return reply.code(201).send(toBody(consent));
  });

  app.get(`${path}/:consentId`, async (request, reply) => {
    const { clientId } = await access.asTpp(request, 'payment');
    return reply.send(toBody(consentOf(request, clientId)));
  });

  app.get(`${path}/:consentId/funds-confirmation`, async (request, reply) => {
    const { clientId, consent } = await access.asPsu(request, 'payment');
    if (consentOf(request, clientId).id !== consent.id)
      throw refusals.forbidden('The token belongs to another consent');
    if (!isAuthorised(consent.status)) throw refusals.consentStatus('The consent is not authorised');
    context.payments.settle(bank.id);
    const FundsAvailable = faultOf(request) !== 'insufficient-funds' && hasFunds(ledger, consent);
    return reply.send({
      Data: { FundsAvailableResult: { FundsAvailableDateTime: toWire(clock.now()), FundsAvailable } },
      Links: { Self: `${self}/${consent.id}/funds-confirmation` },
      Meta: { TotalPages: 1 },
    });
  });
}
