import type { Account, Transaction } from '#libs/contract';
import { signed } from '../amount-signs.js';
import type { Connector, Consented, Institution, Operations, Page, Range, Tools } from '../connector.js';
import { InstitutionError } from '../institution-error.js';
import { eachAccount } from '../each-account.js';
import { readPatiently } from '../patience.js';
import { listOf, unreadable } from '../wire.js';
import { Access } from './berlin-group.access.js';
import { BerlinGroupApi, type Sender } from './berlin-group.api.js';
import { authoriseAccounts, preAuthorise, proceed } from './berlin-group.authorise.js';
import { defaults } from './berlin-group.map.js';
import { OAuth } from './berlin-group.openid.js';
import type { AccountDetails, BerlinGroupQuirks } from './berlin-group.types.js';
import { isStillPreparing, toPage, toPageRequest } from './pages.js';
import { consentStateOf } from './sca-outcome.js';

/** What the operations are made of. */
interface Parts {
  institution: Institution<'berlin-group'>;
  api: BerlinGroupApi;
  oauth: OAuth;
  access: Access;
  map: BerlinGroupQuirks;
  now: () => Date;
}

/** A bank that speaks Berlin Group NextGenPSD2 1.3.x. Nothing is asked of it before the first call. */
export function connectBerlinGroup(institution: Institution<'berlin-group'>, tools: Tools): Connector {
  const { now } = tools;
  const map = { ...defaults, ...institution.quirks };
  const api = new BerlinGroupApi(institution, tools);
  const oauth = new OAuth(institution, tools);
  const isAlive = async (sender: Sender) => (await consentState(api, sender)) === 'authorised';
  const parts = { institution, api, oauth, access: new Access({ oauth, now, isAlive }), map, now };
  return {
    operations: { ...authorisations(parts), ...accountOperations(parts) },
    resendable: false,
    proceed: (call, pending, answer) => proceed(parts, call, pending, answer),
    revoke: (call) => revoke(parts, call),
    status: (call) => parts.access.with(call, (sender) => consentState(api, sender)),
  };
}

/** Which ways there are follows from how the bank authenticates: embedded wants credentials, the others must not get any. */
function authorisations(parts: Parts): Partial<Operations> {
  const { scaApproach, oauthPreStep } = parts.institution.settings;
  const operations: Partial<Operations> = {};
  if (oauthPreStep) {
    operations.INITIATE_PRE_AUTHORISATION = (call, access) => preAuthorise(parts, call, access);
    if (!oauthPreStep.backchannel) {
      operations.INITIATE_ONETIME_PRE_AUTHORISATION_PAYMENTS = (call, access) =>
        preAuthorise(parts, call, { ...access, scope: 'PIS' });
    }
  }
  if (scaApproach === 'embedded') {
    operations.INITIATE_EMBEDDED_ACCOUNT_REQUEST = (call, access, who) => authoriseAccounts(parts, call, access, who);
  } else operations.INITIATE_ACCOUNT_REQUEST = (call, access) => authoriseAccounts(parts, call, access);
  return operations;
}

function accountOperations(parts: Parts): Partial<Operations> {
  const { institution, api, access, map } = parts;
  const { hasBalances } = institution.settings;
  const accounts: Operations['ACCOUNTS'] = (call) =>
    access.with(call, async (sender) => {
      const raw = listOf((await api.accounts(sender)).accounts, 'accounts');
      const without = (each: AccountDetails): Account => map.toAccount(each);
      if (!hasBalances) return raw.map(without);
      const whole = (each: AccountDetails): Promise<Account> => withBalances(parts, sender, each);
      return eachAccount(raw, { whole, without, mayBeDead: sender.token !== undefined && !sender.isRenewed });
    });
  const account: Operations['ACCOUNT'] = (call, accountId) =>
    access.with(call, async (sender) => {
      const { account: found } = await api.account(sender, accountId);
      if (!found) throw unreadable('account');
      // Some banks leave out the id that was asked for.
      const raw = { resourceId: accountId, ...found };
      return hasBalances ? withBalances(parts, sender, raw) : map.toAccount(raw);
    });
  const balances: Operations['ACCOUNT_BALANCES'] = (call, accountId) =>
    access.with(call, async (sender) =>
      map.toBalances((await api.balances(sender, resource(api, accountId, 'balances'))).balances),
    );
  return {
    ...(hasBalances
      ? { ACCOUNTS: accounts, ACCOUNT: account, ACCOUNT_BALANCES: balances }
      : { ACCOUNTS_WITHOUT_BALANCE: accounts, ACCOUNT_WITHOUT_BALANCE: account }),
    ACCOUNT_TRANSACTIONS: (call, accountId, range) =>
      access.with(call, (sender) => readPage(parts, sender, { accountId, range })),
  };
}

function resource(api: BerlinGroupApi, accountId: string, name: 'balances' | 'transactions'): URL {
  return api.address(`accounts/${encodeURIComponent(accountId)}/${name}`);
}

/**
 * A bank may keep less than it is asked for by default (PERIOD_INVALID, quirks Q12 and Q14): then the days it must keep
 * are read, and the page says where it starts. A start that the caller named is never moved.
 */
async function readPage(
  { institution, api, map, now }: Parts,
  sender: Sender,
  { accountId, range }: { accountId: string; range: Range },
): Promise<Page<Transaction>> {
  const base = resource(api, accountId, 'transactions');
  const read = async (asked: Range): Promise<Page<Transaction>> => {
    const request = toPageRequest(base, { range: asked, institution, now: now() });
    const { pageLinks: links, patience } = institution;
    const answer = await readPatiently(() => api.transactions(sender, request.url), {
      isPreparing: (raw) => isStillPreparing(raw, { url: request.url, links }),
      patience,
      signal: sender.signal,
    });
    return signed(toPage(answer, { request, links, map }), institution.amountSigns);
  };
  try {
    return await read(range);
  } catch (fault) {
    const isTooLong = fault instanceof InstitutionError && fault.code === 'PERIOD_INVALID';
    if (!isTooLong || range.from || range.cursor !== undefined) throw fault;
    const startsAt = startOfDay(new Date(now().getTime() - 89 * 86_400_000));
    return { ...(await read({ ...range, from: startsAt })), startsAt };
  }
}

function startOfDay(at: Date): Date {
  return new Date(`${at.toISOString().slice(0, 10)}T00:00:00Z`);
}

/** A closed account has no balance to read. What the bank fails to say is absent, never a zero. */
async function withBalances({ api, map }: Parts, sender: Sender, raw: AccountDetails): Promise<Account> {
  const account = map.toAccount(raw);
  if (raw.status === 'deleted' && !raw.balances) return account;
  const link = raw._links?.['balances']?.href;
  const url = link ? api.address(link) : resource(api, account.id, 'balances');
  const { balances, mainBalanceAmount } = map.toBalances(raw.balances ?? (await api.balances(sender, url)).balances);
  return { ...account, ...(mainBalanceAmount ? { balance: mainBalanceAmount.amount } : {}), accountBalances: balances };
}

async function consentState(api: BerlinGroupApi, sender: Sender) {
  const { consentStatus } = await api.consentStatus(sender, api.consentUrl(sender.consentId ?? '', '/status'));
  return consentStateOf(consentStatus);
}

/** Section 6.4.4. A consent that is not there any more has ended already, and a token without consent has nothing to end. */
async function revoke({ api, access }: Parts, call: Consented): Promise<void> {
  const { institutionConsentId } = call.grant;
  if (institutionConsentId === '') return;
  const isPending = (call.grant.state as { protocol?: string } | null)?.protocol === undefined;
  try {
    if (isPending) await api.deleteConsent(pendingSender(call), institutionConsentId);
    else await access.with(call, (sender) => api.deleteConsent(sender, institutionConsentId));
  } catch (fault) {
    const isGone = fault instanceof InstitutionError && (fault.kind === 'consent-gone' || fault.kind === 'not-found');
    if (!isGone) throw fault;
  }
}

/** A consent that nobody has authorised yet has its token, if any, in what is pending. */
function pendingSender(call: Consented): Sender {
  const { tokens } = (call.grant.state ?? {}) as { tokens?: { accessToken: string } };
  return tokens ? { ...call, token: tokens.accessToken } : call;
}
