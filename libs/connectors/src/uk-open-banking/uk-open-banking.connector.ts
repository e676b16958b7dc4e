import type { Account } from '#libs/contract';
import { signed } from '../amount-signs.js';
import type { Call, Connector, Consented, Grant, Institution, Operations, Range, Tools } from '../connector.js';
import { InstitutionError } from '../institution-error.js';
import { eachAccount } from '../each-account.js';
import { listOf, unreadable } from '../wire.js';
import { consentState, isConsentAlive, revoke } from './consents.js';
import { earliestOf, statementDates, transactionDates } from './pages.js';
import type { Parts } from './parts.js';
import { paymentOperations } from './payments.js';
import { everyRow, pageOf } from './reading.js';
import { Access, stateOf } from './uk-open-banking.access.js';
import { UkOpenBankingApi } from './uk-open-banking.api.js';
import { authoriseAccounts, proceed } from './uk-open-banking.authorise.js';
import type { Authorised } from './uk-open-banking.exchange.js';
import { defaults } from './uk-open-banking.map.js';
import { OpenId } from './uk-open-banking.openid.js';
import type { OBAccount6 } from './uk-open-banking.types.js';

/** A bank that speaks UK Open Banking, v4.0 or v3.1. Nothing is asked of it before the first call. */
export function connectUkOpenBanking(institution: Institution<'uk-open-banking'>, tools: Tools): Connector {
  const { now } = tools;
  const { version } = institution.settings;
  const map = { ...defaults, ...institution.quirks };
  const api = new UkOpenBankingApi(institution, tools);
  const openid = new OpenId(institution, tools);
  const consents = { api, openid, version, now };
  const isAlive = (call: Call, grant: Grant) => isConsentAlive(consents, call, grant);
  const probe = (call: Authorised) => api.page(call, 'Account', api.listUrl(call.version, 'Account'));
  const parts: Parts = { institution, map, access: new Access({ openid, now, version, isAlive, probe }), ...consents };
  return {
    operations: { ...accountOperations(parts), ...resourceOperations(parts), ...paymentOperations(parts) },
    // The standard remembers an idempotency key for 24 hours; afterwards the consent is used up and refuses.
    resendable: true,
    proceed: (call, pending, answer) => proceed(parts, call, pending, answer),
    revoke: (call) => revoke(parts, call),
    status: (call) => consentState(parts, call),
  };
}

function accountOperations(parts: Parts) {
  const { api, access, map } = parts;
  return {
    INITIATE_ACCOUNT_REQUEST: (call, wanted) => authoriseAccounts(parts, call, wanted),

    ACCOUNTS: (call) =>
      access.with(call, async (authorised) => {
        const raw = await everyRow(parts, authorised, { list: 'Account' });
        return eachAccount(raw, {
          whole: (each) => withBalances(parts, authorised, each),
          without: (each) => map.toAccount(each),
          mayBeDead: !authorised.isRenewed,
        });
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

    ACCOUNT_TRANSACTIONS: (call, accountId, range) => transactions(parts, call, { accountId, range }),

    ACCOUNT_STATEMENTS: (call, accountId, range) =>
      access.with(call, (authorised) => {
        const { toStatement } = map;
        const asked = { list: 'Statement', accountId, range, window: statementDates, map: toStatement } as const;
        return pageOf(parts, authorised, asked);
      }),

    ACCOUNT_STATEMENT: (call, accountId, statementId) =>
      access.with(call, async (authorised) => {
        const raw = await api.statement(authorised, { AccountId: accountId, StatementId: statementId });
        const found = listOf(raw.Data.Statement, 'Statement').find(({ StatementId }) => StatementId === statementId);
        if (!found) throw new InstitutionError('not-found', 'The institution has no such statement');
        return map.toStatement(found);
      }),

    ACCOUNT_STATEMENT_FILE: (call, accountId, statementId) =>
      access.with(call, async (authorised) => {
        const ids = { AccountId: accountId, StatementId: statementId };
        const { headers, body } = await api.statementFile(authorised, ids);
        const { 'content-type': type } = headers;
        // A page of a gateway is no document, whatever its status says.
        if (body.length === 0 || typeof type !== 'string' || type.startsWith('text/html')) throw unreadable('file');
        return { contentType: type, body };
      }),
  } satisfies Partial<Operations>;
}

/** What an account has besides money moved: who it pays, when, and whose it is. */
function resourceOperations(parts: Parts) {
  const { api, access, map } = parts;
  return {
    ACCOUNT_BENEFICIARIES: (call, accountId) =>
      access.with(call, async (authorised) =>
        (await everyRow(parts, authorised, { list: 'Beneficiary', accountId })).map(map.toBeneficiary),
      ),

    ACCOUNT_DIRECT_DEBITS: (call, accountId) =>
      access.with(call, async (authorised) =>
        (await everyRow(parts, authorised, { list: 'DirectDebit', accountId })).map(map.toDirectDebit),
      ),

    ACCOUNT_PERIODIC_PAYMENTS: (call, accountId) =>
      access.with(call, async (authorised) =>
        (await everyRow(parts, authorised, { list: 'StandingOrder', accountId })).map(map.toPeriodicPayment),
      ),

    ACCOUNT_SCHEDULED_PAYMENTS: (call, accountId) =>
      access.with(call, async (authorised) =>
        (await everyRow(parts, authorised, { list: 'ScheduledPayment', accountId })).map(map.toScheduledPayment),
      ),

    IDENTITY: (call) =>
      access.with(call, async (authorised) => {
        const { Party } = (await api.party(authorised)).Data;
        if (!Party) throw unreadable('Party');
        return map.toIdentity(Party);
      }),
  } satisfies Partial<Operations>;
}

/** One page of what moved on an account, and how far back the bank still goes. */
function transactions(parts: Parts, call: Consented, { accountId, range }: { accountId: string; range: Range }) {
  const { institution, access, map } = parts;
  const { authorisedAt } = stateOf(call.grant);
  const earliest = earliestOf(institution.settings, { authorisedAt, now: parts.now() });
  const window = transactionDates(institution);
  const asked = { list: 'Transaction', accountId, range, window, earliest, map: map.toTransaction } as const;
  return access.with(call, async (authorised) =>
    signed(await pageOf(parts, authorised, asked), institution.amountSigns),
  );
}

/** A closed account has no balance to read. What the bank fails to say is absent, never a zero. */
async function withBalances({ api, map }: Parts, authorised: Authorised, raw: OBAccount6): Promise<Account> {
  const account = map.toAccount(raw);
  if (raw.Status === 'Deleted') return account;
  const { balances, mainBalanceAmount } = map.toBalances((await api.balances(authorised, account.id)).Data.Balance);
  return { ...account, ...(mainBalanceAmount ? { balance: mainBalanceAmount.amount } : {}), accountBalances: balances };
}
