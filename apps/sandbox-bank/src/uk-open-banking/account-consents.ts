import type { FastifyInstance } from 'fastify';
import { toWire } from '../clock.js';
import type { BankContext } from '../oidc/authorisation-server.js';
import type { Access } from './access.js';
import { isGone } from './consent-state.js';
import type { Consent } from './consents.js';
import { refusals } from './error.js';

/** Every permission of the standard; the bank takes them all, also those whose resources it does not offer. */
const permissions = new Set([
  'ReadAccountsBasic',
  'ReadAccountsDetail',
  'ReadBalances',
  'ReadBeneficiariesBasic',
  'ReadBeneficiariesDetail',
  'ReadDirectDebits',
  'ReadOffers',
  'ReadPAN',
  'ReadParty',
  'ReadPartyPSU',
  'ReadProducts',
  'ReadScheduledPaymentsBasic',
  'ReadScheduledPaymentsDetail',
  'ReadStandingOrdersBasic',
  'ReadStandingOrdersDetail',
  'ReadStatementsBasic',
  'ReadStatementsDetail',
  'ReadTransactionsBasic',
  'ReadTransactionsCredits',
  'ReadTransactionsDebits',
  'ReadTransactionsDetail',
]);
const dateMembers = ['ExpirationDateTime', 'TransactionFromDateTime', 'TransactionToDateTime'] as const;

interface AccountConsentData {
  Permissions: string[];
  ExpirationDateTime?: string;
  TransactionFromDateTime?: string;
  TransactionToDateTime?: string;
}

export function accountDataOf(consent: Consent): AccountConsentData {
  const { Permissions, ...dates } = consent.request.data as Partial<AccountConsentData>;
  return { Permissions: Permissions ?? [], ...dates };
}

/** Read/Write v4.0, account access consents: POST, GET, DELETE with a client credentials token. */
export function registerAccountConsents(app: FastifyInstance, context: BankContext, access: Access): void {
  const { bank, resources, consents, clock } = context;
  const path = `/banks/${bank.id}/open-banking/${bank.version}/aisp/account-access-consents`;
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
    Risk: {},
    Links: { Self: `${resources}/open-banking/${bank.version}/aisp/account-access-consents/${consent.id}` },
    Meta: { TotalPages: 1 },
  });
  const own = (id: string, clientId: string): Consent => {
    const consent = consents.find(bank.id, id);
    if (!consent || consent.clientId !== clientId || consent.family !== 'account' || isGone(consent.status))
      throw refusals.notFound('The consent');
    return consent;
  };

  app.post(path, async (request, reply) => {
    const { clientId } = await access.asTpp(request, 'account');
    const data = readRequest(request.body, clock.now());
    const expiresAt = data.ExpirationDateTime === undefined ? undefined : Date.parse(data.ExpirationDateTime);
    const consent = consents.create({
      bank: bank.id,
      clientId,
      family: 'account',
      request: { data: { ...data }, risk: {} },
      expiresAt,
    });
    return reply.code(201).send(toBody(consent));
  });
  app.get(`${path}/:consentId`, async (request, reply) => {
    const { clientId } = await access.asTpp(request, 'account');
    return reply.send(toBody(own((request.params as { consentId: string }).consentId, clientId)));
  });
  app.delete(`${path}/:consentId`, async (request, reply) => {
    const { clientId } = await access.asTpp(request, 'account');
    consents.remove(own((request.params as { consentId: string }).consentId, clientId));
    return reply.code(204).send();
  });
}

function readRequest(body: unknown, now: number): AccountConsentData {
  const data = memberOf(body, 'Data');
  if (typeof data !== 'object' || data === null) throw refusals.fieldMissing('Data');
  if (typeof memberOf(body, 'Risk') !== 'object') throw refusals.fieldMissing('Risk');
  const asked = memberOf(data, 'Permissions');
  if (asked === undefined) throw refusals.fieldMissing('Data.Permissions');
  if (!Array.isArray(asked) || asked.length === 0)
    throw refusals.fieldInvalid('Data.Permissions', 'Data.Permissions must list a permission');
  const list = asked.map((permission: unknown, index) => {
    if (typeof permission !== 'string' || !permissions.has(permission))
      throw refusals.fieldInvalid(`Data.Permissions[${index}]`, 'The permission is not known');
    return permission;
  });
  checkPairs(new Set(list));
  const read: AccountConsentData = { Permissions: list };
  for (const name of dateMembers) {
    const value = memberOf(data, name);
    if (value === undefined) continue;
    if (
      typeof value !== 'string' ||
      !/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}/.test(value) ||
      Number.isNaN(Date.parse(value))
    )
      throw refusals.fieldInvalid(`Data.${name}`, `Data.${name} is no date and time`);
    read[name] = value;
  }
  if (read.ExpirationDateTime !== undefined && Date.parse(read.ExpirationDateTime) <= now)
    throw refusals.fieldInvalid('Data.ExpirationDateTime', 'Data.ExpirationDateTime is past');
  return read;
}

/** Transactions need one of Basic and Detail and one of Credits and Debits; accounts are always needed (section 2.6). */
function checkPairs(asked: Set<string>): void {
  const has = (...names: string[]): boolean => names.some((name) => asked.has(name));
  if (!has('ReadAccountsBasic', 'ReadAccountsDetail'))
    throw refusals.fieldInvalid('Data.Permissions', 'ReadAccountsBasic or ReadAccountsDetail must be asked for');
  const depth = has('ReadTransactionsBasic', 'ReadTransactionsDetail');
  const side = has('ReadTransactionsCredits', 'ReadTransactionsDebits');
  if (depth && !side)
    throw refusals.fieldInvalid(
      'Data.Permissions',
      'ReadTransactionsCredits or ReadTransactionsDebits must be asked for with transactions',
    );
  if (side && !depth)
    throw refusals.fieldInvalid(
      'Data.Permissions',
      'ReadTransactionsBasic or ReadTransactionsDetail must be asked for with transactions',
    );
}

/** A member of what came over the wire, whatever that is. */
export function memberOf(body: unknown, name: string): unknown {
  return typeof body === 'object' && body !== null
    ? new Map<string, unknown>(Object.entries(body)).get(name)
    : undefined;
}
