import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { toWire } from '../clock.js';
import { memberOf } from './account-consents.js';
import { isAuthorised } from './consent-state.js';
import type { Consent } from './consents.js';
import { identificationOf } from './debtor.js';
import { refusals } from './error.js';
import { attemptOf, earlierResource, remember } from './idempotency.js';
import type { Payment } from './payment-book.js';
import { hasFunds, type PaymentRoutes } from './payment-consents.js';
import { isSame } from './payment-request.js';
import type { Outcome } from './payment-state.js';

const outcomes: Record<string, Outcome> = { 'payment-reject': 'reject', 'payment-pending': 'hold' };
const reasons: Record<string, string> = { AM04: 'InsufficientFunds', AG01: 'TransactionForbidden' };

/** Read/Write v4.0, domestic payments: POST with the PSU's token, GET and details with the TPP's own. */
export function registerPayments(app: FastifyInstance, routes: PaymentRoutes): void {
  const { context, access } = routes;
  const { bank } = context;
  const path = `/banks/${bank.id}/open-banking/${bank.version}/pisp/domestic-payments`;
  const look = async (request: FastifyRequest): Promise<Payment> => {
    const { clientId } = await access.asTpp(request, 'payment');
    const { paymentId } = request.params as { paymentId: string };
    const isOwn = context.payments.find(bank.id, paymentId)?.clientId === clientId;
    const payment = isOwn ? context.payments.look(bank.id, paymentId) : undefined;
    if (!payment) throw refusals.notFound('The payment');
    return payment;
  };

  app.post(path, (request, reply) => order(routes, request, reply));
  app.get(`${path}/:paymentId`, async (request, reply) => reply.send(toBody(routes, await look(request))));
  app.get(`${path}/:paymentId/payment-details`, async (request, reply) =>
    reply.send(toDetails(routes, await look(request))),
  );
}

async function order(routes: PaymentRoutes, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { context, access, signer, ledger, faultOf } = routes;
  const { clientId, consent } = await access.asPsu(request, 'payment');
  const attempt = attemptOf(request, clientId, 'domestic-payments');
  await signer.verify(request, clientId);
  const earlier = earlierResource(context, attempt);
  const known = earlier === undefined ? undefined : context.payments.find(context.bank.id, earlier);
  if (known) return reply.code(201).send(toBody(routes, known));
  checkOrder(request.body, consent);
  if (!isAuthorised(consent.status)) throw refusals.consentStatus('The consent is not authorised, or used up');
  context.payments.settle(context.bank.id);
  const fault = faultOf(request);
  const plan = {
    outcome: outcomes[fault ?? ''] ?? 'complete',
    hasFunds: fault !== 'insufficient-funds' && hasFunds(ledger, consent),
  };
  const payment = context.payments.take(consent, plan, (taken) => remember(context, attempt, taken.id));
  if (!payment) throw refusals.consentStatus('The consent is used up');
  return reply.code(201).send(toBody(routes, payment));
}

/** The order repeats the consent's Initiation and Risk unchanged (section 2.13). */
function checkOrder(body: unknown, consent: Consent): void {
  const data = memberOf(body, 'Data');
  const consentId = memberOf(data, 'ConsentId');
  if (consentId === undefined) throw refusals.fieldMissing('Data.ConsentId');
  if (consentId !== consent.id) throw refusals.consentMismatch('Data.ConsentId');
  if (memberOf(data, 'Initiation') === undefined) throw refusals.fieldMissing('Data.Initiation');
  if (!isSame(memberOf(data, 'Initiation'), consent.request.data['Initiation']))
    throw refusals.consentMismatch('Data.Initiation');
  if (memberOf(body, 'Risk') === undefined) throw refusals.fieldMissing('Risk');
  if (!isSame(memberOf(body, 'Risk'), consent.request.risk)) throw refusals.consentMismatch('Risk');
}

function linksOf({ context }: PaymentRoutes, below: string): object {
  return {
    Links: { Self: `${context.resources}/open-banking/${context.bank.version}/pisp/domestic-payments/${below}` },
    Meta: { TotalPages: 1 },
  };
}

function toBody(routes: PaymentRoutes, payment: Payment): object {
  const { context, ledger } = routes;
  const consent = context.consents.find(context.bank.id, payment.consentId);
  const account = ledger.account(payment.accountId);
  const identification = account && identificationOf(account, 'SortCodeAccountNumber');
  const debtor = { SchemeName: 'UK.OBIE.SortCodeAccountNumber', Identification: identification, Name: account?.holder };
  return {
    Data: {
      DomesticPaymentId: payment.id,
      ConsentId: payment.consentId,
      CreationDateTime: toWire(payment.createdAt),
      Status: payment.status,
      StatusUpdateDateTime: toWire(payment.statusAt),
      ...(payment.reason !== undefined && {
        StatusReason: [
          { StatusReasonCode: payment.reason, StatusReasonDescription: reasons[payment.reason] ?? payment.reason },
        ],
      }),
      ...(consent?.request.data['ReadRefundAccount'] === 'Yes' &&
        identification !== undefined && { Refund: { Account: debtor } }),
      Initiation: consent?.request.data['Initiation'],
      ...(identification !== undefined && { Debtor: debtor }),
    },
    ...linksOf(routes, payment.id),
  };
}

/** Details have no word for "received": an order that was only received is pending there. */
function toDetails(routes: PaymentRoutes, payment: Payment): object {
  const Status = payment.status === 'RCVD' ? 'PDNG' : payment.status;
  return {
    Data: {
      PaymentStatus: [
        {
          PaymentTransactionId: payment.id,
          Status,
          StatusUpdateDateTime: toWire(payment.statusAt),
          StatusDetail: {
            LocalInstrument: 'UK.OBIE.FPS',
            Status,
            ...(payment.reason !== undefined && {
              StatusReason: payment.reason,
              StatusReasonDescription: reasons[payment.reason] ?? payment.reason,
            }),
          },
        },
      ],
    },
    ...linksOf(routes, `${payment.id}/payment-details`),
  };
}
