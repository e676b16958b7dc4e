import { problems } from '#libs/contract';
import type { BankPayment, Consented, Grant, Operations } from '../connector.js';
import { InstitutionError, type InstitutionErrorKind } from '../institution-error.js';
import { consumedStatuses } from './codes.js';
import type { Parts } from './parts.js';
import { stateOf } from './uk-open-banking.access.js';
import type { UkOpenBankingApi } from './uk-open-banking.api.js';
import { authorisePayment, versionOf, withClientToken } from './uk-open-banking.authorise.js';
import type { Authorised } from './uk-open-banking.exchange.js';
import type { OBWriteDomestic2, OBWriteDomesticResponse5, Version } from './uk-open-banking.types.js';

/** Domestic payments: the consent, the order, what became of it. */
export function paymentOperations(parts: Parts) {
  const { institution, api, openid, access, map, version } = parts;
  return {
    INITIATE_DOMESTIC_SINGLE_PAYMENT: (call, payment, wanted) =>
      authorisePayment(parts, call, { payment, access: wanted }),

    CREATE_DOMESTIC_SINGLE_PAYMENT: async (call, payment, idempotencyKey) => {
      const asked = map.toDomesticConsent(payment, versionOf(call.grant, version)).Data.Initiation;
      const { initiation, risk } = authorisedPayment(call.grant, asked);
      const order = { Data: { ConsentId: call.grant.institutionConsentId, Initiation: initiation }, Risk: risk };
      const raw = await access.with(call, (authorised) =>
        sendOrder(parts, authorised, { call, order, idempotencyKey }),
      );
      return checked(map.toBankPayment(raw.Data, institution.acscIsFinal), call.grant);
    },

    EXISTING_PAYMENTS_DETAILS: (call, institutionPaymentId) =>
      withClientToken(openid, asPayer(call, version), async (authorised) => {
        const raw = await api.domesticPayment(authorised, institutionPaymentId);
        return checked(map.toBankPayment(raw.Data, institution.acscIsFinal), call.grant);
      }),
  } satisfies Partial<Operations>;
}

/** The order must repeat what was authorised (section 2.13); ids of the instruction are the consent's own. */
function authorisedPayment(grant: Grant, asked: NonNullable<ReturnType<typeof stateOf>['payment']>['initiation']) {
  const { payment } = stateOf(grant);
  if (!payment) throw new TypeError('The grant authorises no payment');
  const { InstructedAmount, CreditorAccount, RemittanceInformation } = payment.initiation;
  if (!same(InstructedAmount, asked.InstructedAmount)) throw differs('$.amount');
  if (!same(CreditorAccount, asked.CreditorAccount)) throw differs('$.payee');
  if (!same(RemittanceInformation, asked.RemittanceInformation)) throw differs('$.reference');
  return payment;
}

function same(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function differs(parameter: string): Error {
  return problems.unexpectedValue({ parameter, message: 'differs from the payment that was authorised' });
}

/**
 * Asks for the funds, then pays. An order that was taken before, its answer lost, uses up the consent and the money:
 * whatever the bank then refuses says nothing of that payment, so it is `consent-gone`, never `rejected`.
 */
async function sendOrder(
  { api, openid, version }: Parts,
  authorised: Authorised,
  { call, order, idempotencyKey }: { call: Consented; order: OBWriteDomestic2; idempotencyKey: string },
): Promise<OBWriteDomesticResponse5> {
  const { ConsentId } = order.Data;
  const isUsed = () => isConsentUsed({ api, openid, version }, call, ConsentId);
  if (!(await hasFunds(api, authorised, ConsentId)) && !(await isUsed())) {
    throw new InstitutionError('rejected', 'Funds are not available on the account', { code: 'FUNDS_NOT_AVAILABLE' });
  }
  try {
    return await api.createDomesticPayment(authorised, order, idempotencyKey);
  } catch (fault) {
    if (!(fault instanceof InstitutionError) || fault.kind !== 'rejected' || !(await isUsed())) throw fault;
    const { httpStatus, code } = fault;
    throw new InstitutionError('consent-gone', 'The consent has been used for a payment', { httpStatus, code });
  }
}

/** Only a definite no is one. A bank without the endpoint, or with a fault in it, decides when it is asked to pay. */
async function hasFunds(api: UkOpenBankingApi, authorised: Authorised, consentId: string): Promise<boolean> {
  try {
    const { Data } = await api.fundsConfirmation(authorised, consentId);
    return Data.FundsAvailableResult?.FundsAvailable !== false;
  } catch (fault) {
    const undecided: InstitutionErrorKind[] = ['rejected', 'not-found', 'unavailable', 'timeout'];
    if (fault instanceof InstitutionError && undecided.includes(fault.kind)) return true;
    throw fault;
  }
}

async function isConsentUsed(
  { api, openid, version }: Pick<Parts, 'api' | 'openid' | 'version'>,
  call: Consented,
  consentId: string,
): Promise<boolean> {
  const { Data } = await withClientToken(openid, asPayer(call, version), (authorised) =>
    api.domesticConsent(authorised, consentId),
  );
  return consumedStatuses.has(Data.Status);
}

/** Payments are asked after with our own token, on the version of their consent. */
function asPayer(call: Consented, latest: Version) {
  return { call, scope: 'payments', version: versionOf(call.grant, latest) } as const;
}

function checked(payment: BankPayment, grant: Grant): BankPayment {
  if (payment.institutionConsentId === grant.institutionConsentId) return payment;
  throw new InstitutionError('malformed', 'The institution answered about another payment');
}
