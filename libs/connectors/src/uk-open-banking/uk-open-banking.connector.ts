import { problems, type Account } from '#libs/contract';
import type { BankPayment, Call, Connector, Consented, Grant, Institution, Operations, Tools } from '../connector.js';
import { InstitutionError, type InstitutionErrorKind } from '../institution-error.js';
import { listOf, textOf } from '../wire.js';
import { toPage, toPageRequest } from './transactions.js';
import { Access, stateOf } from './uk-open-banking.access.js';
import { UkOpenBankingApi, type Authorised } from './uk-open-banking.api.js';
import { authoriseAccounts, authorisePayment, proceed, withClientToken } from './uk-open-banking.authorise.js';
import { defaults } from './uk-open-banking.map.js';
import { OpenId } from './uk-open-banking.openid.js';
import type {
  OBAccount6,
  OBWriteDomestic2,
  OBWriteDomesticResponse5,
  UkOpenBankingQuirks,
} from './uk-open-banking.types.js';

/** Balances read at once; more would look like an attack to a bank that counts. */
const BALANCES_AT_ONCE = 4;
/** Statuses from which a consent never comes back by itself (section 2.5, both spellings). */
const endedStatuses: ReadonlySet<string> = new Set(['CANC', 'EXPD', 'RJCT', 'Revoked', 'Rejected']);

/** What the operations are made of. */
interface Parts {
  institution: Institution<'uk-open-banking'>;
  api: UkOpenBankingApi;
  openid: OpenId;
  access: Access;
  map: UkOpenBankingQuirks;
  now: () => Date;
}

/** A bank that speaks UK Open Banking v4.0. Nothing is asked of it before the first call. */
export function connectUkOpenBanking(institution: Institution<'uk-open-banking'>, tools: Tools): Connector {
  const { now } = tools;
  const map = { ...defaults, ...institution.quirks };
  const api = new UkOpenBankingApi(institution, tools);
  const openid = new OpenId(institution, tools);
  const isAlive = (call: Call, grant: Grant) => isConsentAlive({ api, openid }, call, grant);
  const parts = { institution, api, openid, access: new Access({ openid, now, isAlive }), map, now };
  return {
    operations: { ...accountOperations(parts), ...paymentOperations(parts) },
    // The standard remembers an idempotency key for 24 hours; afterwards the consent is used up and refuses.
    resendable: true,
    proceed: (call, pending, answer) => proceed(parts, call, pending, answer),
    revoke: (call) => revoke(parts, call),
  };
}

function accountOperations(parts: Parts) {
  const { institution, api, access, map, now } = parts;
  return {
    INITIATE_ACCOUNT_REQUEST: (call, wanted) => authoriseAccounts(parts, call, wanted),

    ACCOUNTS: (call) =>
      access.with(call, async (authorised) => {
        const raw = listOf((await api.accounts(authorised)).Data.Account, 'Account');
        return inTurns(raw, (each) => withBalances(parts, authorised, each));
      }),

    ACCOUNT: (call, accountId) =>
      access.with(call, async (authorised) => {
        const raw = listOf((await api.account(authorised, accountId)).Data.Account, 'Account');
        const found = raw.find(({ AccountId }) => AccountId === accountId);
        if (!found) throw new InstitutionError('not-found', 'The institution has no such account');
        return withBalances(parts, authorised, found);
      }),

    ACCOUNT_BALANCES: (call, accountId) =>
      access.with(call, async (authorised) => map.toBalances((await api.balances(authorised, accountId)).Data.Balance)),

    ACCOUNT_TRANSACTIONS: async (call, accountId, range) => {
      const request = toPageRequest(api.transactionsUrl(accountId), { range, institution, now: now() });
      return access.with(call, async (authorised) =>
        toPage(await api.transactions(authorised, request.url), { request, map }),
      );
    },
  } satisfies Partial<Operations>;
}

function paymentOperations(parts: Parts) {
  const { institution, api, openid, access, map } = parts;
  return {
    INITIATE_DOMESTIC_SINGLE_PAYMENT: (call, payment, wanted) =>
      authorisePayment(parts, call, { payment, access: wanted }),

    CREATE_DOMESTIC_SINGLE_PAYMENT: async (call, payment, idempotencyKey) => {
      const { initiation, risk } = authorisedPayment(call.grant, map.toDomesticConsent(payment).Data.Initiation);
      const order = { Data: { ConsentId: call.grant.institutionConsentId, Initiation: initiation }, Risk: risk };
      const raw = await access.with(call, (authorised) =>
        sendOrder(parts, authorised, { call, order, idempotencyKey }),
      );
      return checked(map.toBankPayment(raw.Data, institution.acscIsFinal), call.grant);
    },

    EXISTING_PAYMENTS_DETAILS: (call, institutionPaymentId) =>
      withClientToken(openid, { call, scope: 'payments' }, async (token) => {
        const raw = await api.domesticPayment({ ...call, token }, institutionPaymentId);
        return checked(map.toBankPayment(raw.Data, institution.acscIsFinal), call.grant);
      }),
  } satisfies Partial<Operations>;
}

/** A closed account has no balance to read; every other failure fails the whole read, never as a zero. */
async function withBalances({ api, map }: Parts, authorised: Authorised, raw: OBAccount6): Promise<Account> {
  const account = map.toAccount(raw);
  if (raw.Status === 'Deleted') return account;
  const { balances, mainBalanceAmount } = map.toBalances((await api.balances(authorised, account.id)).Data.Balance);
  return { ...account, ...(mainBalanceAmount ? { balance: mainBalanceAmount.amount } : {}), accountBalances: balances };
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
  { api, openid }: Parts,
  authorised: Authorised,
  { call, order, idempotencyKey }: { call: Consented; order: OBWriteDomestic2; idempotencyKey: string },
): Promise<OBWriteDomesticResponse5> {
  const { ConsentId } = order.Data;
  const isUsed = () => isConsentUsed({ api, openid }, call, ConsentId);
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
  { api, openid }: Pick<Parts, 'api' | 'openid'>,
  call: Call,
  consentId: string,
): Promise<boolean> {
  const { Data } = await withClientToken(openid, { call, scope: 'payments' }, (token) =>
    api.domesticConsent({ ...call, token }, consentId),
  );
  return Data.Status === 'COND' || Data.Status === 'Consumed';
}

function checked(payment: BankPayment, grant: Grant): BankPayment {
  if (payment.institutionConsentId === grant.institutionConsentId) return payment;
  throw new InstitutionError('malformed', 'The institution answered about another payment');
}

async function isConsentAlive(
  { api, openid }: { api: UkOpenBankingApi; openid: OpenId },
  call: Call,
  grant: Grant,
): Promise<boolean> {
  const { scope } = stateOf(grant);
  try {
    const { Data } = await withClientToken(openid, { call, scope }, (token) =>
      scope === 'accounts'
        ? api.accountConsent({ ...call, token }, grant.institutionConsentId)
        : api.domesticConsent({ ...call, token }, grant.institutionConsentId),
    );
    return !endedStatuses.has(textOf(Data.Status, 'Status'));
  } catch (fault) {
    // A deleted consent answers 400, or 404 at banks that are kinder.
    if (isUnknown(fault)) return false;
    throw fault;
  }
}

/** Section 2.5: deleting is for account access; a payment consent ends by itself and cannot be taken back. */
async function revoke({ api, openid }: { api: UkOpenBankingApi; openid: OpenId }, call: Consented): Promise<void> {
  const state = call.grant.state as { scope?: string } | null;
  if (state?.scope === 'payments') return;
  try {
    await withClientToken(openid, { call, scope: 'accounts' }, (token) =>
      api.deleteAccountConsent({ ...call, token }, call.grant.institutionConsentId),
    );
  } catch (fault) {
    if (!isUnknown(fault)) throw fault;
  }
}

function isUnknown(fault: unknown): boolean {
  if (!(fault instanceof InstitutionError)) return false;
  if (fault.kind === 'not-found') return true;
  return fault.httpStatus === 400 && (fault.code === undefined || fault.code === 'U009');
}

async function inTurns<T, R>(items: T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  const queue = items.entries();
  const workers = Array.from({ length: Math.min(BALANCES_AT_ONCE, items.length) }, async () => {
    for (const [index, item] of queue) results[index] = await work(item);
  });
  await Promise.all(workers);
  return results;
}
