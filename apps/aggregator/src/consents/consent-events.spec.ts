import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { AuthorisationStatus, type AccountAuthorisationResponse, type Envelope } from '#libs/contract';
import { type Grant, InstitutionError, type Step } from '#libs/connectors';
import { asSystem, POOL } from '#libs/database';
import { now, resetClock, setClock } from '#libs/server';
import { TestAggregator } from '../../../../test/support/aggregator.js';
import { applicationWithCallback, comeBack, grantedAccount } from '../../../../test/support/authorise.js';
import {
  scriptedConnector,
  scriptedInstitution,
  scriptInstitution,
  type ScriptedConnector,
} from '../../../../test/support/scripted-connector.js';
import type { IssuedKey } from '../applications/application-keys.service.js';
import { ConsentSecrets } from './consent-secrets.js';
import { ConsentSweep } from './consent-sweep.service.js';
import type { Queryable } from './consent.queries.js';

/** Everything that can happen to a consent, in every status it can have: what moves it, and that nothing else does. */

type Status = AuthorisationStatus;
type Row = Record<string, unknown>;

let aggregator: TestAggregator;
let bank: ScriptedConnector;
let shop: IssuedKey;
/** One consent with everything any status can have: a grant, a token, and an authorisation under way. */
let kept: Row;
let id: string;
let token: string;
let state: string;

const all = Object.values(AuthorisationStatus);
const pending: Grant = { institutionConsentId: 'bg-1', state: {} };
const subject = { institutionId: scriptedInstitution.id, applicationUserId: 'ann' };
const db = () => aggregator.app.get<Queryable>(POOL, { strict: false });
const sql = async (text: string, values: unknown[]) => (await asSystem(() => db().query<Row>(text, values))).rows;
const rowNow = async () => (await sql('SELECT * FROM consents WHERE id = $1', [id]))[0] ?? {};

beforeAll(async () => {
  aggregator = await TestAggregator.start();
  bank = scriptedConnector();
  scriptInstitution(aggregator, bank);
  shop = await applicationWithCallback(aggregator);
  ({ id, token } = await grantedAccount(aggregator, shop));
  const route = 'PATCH /account-auth-requests';
  const renewed = await aggregator.ask<Envelope<AccountAuthorisationResponse>>(route, {
    as: shop,
    headers: { consent: token },
  });
  state = renewed.body.data.state ?? '';
  kept = await rowNow();
});
afterAll(() => aggregator.close());
beforeEach(() => {
  bank = scriptedConnector();
  scriptInstitution(aggregator, bank);
});
afterEach(() => resetClock());

/** Puts the consent back to what it was, in this status. */
async function put(status: Status, changes: Row): Promise<void> {
  const former = status === 'AWAITING_RE_AUTHORIZATION' ? 'EXPIRED' : null;
  const values = { ...kept, status, former_status: former, updated_at: now(), ...changes };
  const names = Object.keys(values).filter((name) => name !== 'id');
  await sql(`UPDATE consents SET ${names.map((name, index) => `${name} = $${index + 2}`).join(', ')} WHERE id = $1`, [
    id,
    ...names.map((name) => values[name as keyof typeof values]),
  ]);
}

const proceeds = (step: Step) => bank.proceed.mockResolvedValue(step);
const fails = (kind: 'unavailable' | 'malformed' | 'rejected') =>
  bank.proceed.mockRejectedValue(new InstitutionError(kind, 'No'));
const authorised: Step = { kind: 'authorised', grant: pending };
const refused: Step = { kind: 'rejected', reason: 'Declined' };
const further: Step = { kind: 'further-authorisation', pending };
const browser = (answer: Record<string, string> = { code: 'c-1' }) => comeBack(aggregator, { ...answer, state });
const poll = () => aggregator.ask(`GET /consents/${id}`, { as: shop });
const answer = (body: object) =>
  aggregator.ask(`PUT /embedded-account-auth-requests/${id}`, { as: shop, body: { ...subject, ...body } });
const sweepAfter = async (ms: number) => {
  const later = new Date(now().getTime() + ms);
  setClock(() => later);
  await aggregator.get(ConsentSweep).run();
};
const HOUR_MS = 3_600_000;
const unfinished = Object.fromEntries(
  all
    .filter((status) => /^AWAITING|^PRE_|^UNKNOWN$/.test(status))
    .map((status): [Status, Status] => [status, 'EXPIRED']),
);

interface Event {
  name: string;
  /** What the row has besides its status. */
  row?: () => Row;
  happens: () => Promise<unknown>;
  /** Where it leads from the statuses that know it; everywhere else nothing changes. */
  leads: Partial<Record<Status, Status>>;
}

const events: Event[] = [
  {
    name: 'the user approves in the browser',
    happens: () => (proceeds(authorised), browser()),
    leads: {
      AWAITING_AUTHORIZATION: 'AUTHORIZED',
      AWAITING_RE_AUTHORIZATION: 'AUTHORIZED',
      AWAITING_PRE_AUTHORIZATION: 'PRE_AUTHORIZED',
    },
  },
  {
    name: 'the user refuses in the browser',
    happens: () => (proceeds(refused), browser({ error: 'access_denied' })),
    leads: {
      AWAITING_AUTHORIZATION: 'REJECTED',
      AWAITING_RE_AUTHORIZATION: 'EXPIRED',
      AWAITING_PRE_AUTHORIZATION: 'REJECTED',
    },
  },
  {
    name: 'the bank fails when the user is back',
    happens: () => (fails('unavailable'), browser()),
    leads: {
      AWAITING_AUTHORIZATION: 'FAILED',
      AWAITING_RE_AUTHORIZATION: 'EXPIRED',
      AWAITING_PRE_AUTHORIZATION: 'FAILED',
    },
  },
  {
    name: 'the bank cannot be understood when the user is back',
    happens: () => (fails('malformed'), browser()),
    leads: {
      AWAITING_AUTHORIZATION: 'UNKNOWN',
      AWAITING_RE_AUTHORIZATION: 'EXPIRED',
      AWAITING_PRE_AUTHORIZATION: 'UNKNOWN',
    },
  },
  {
    name: 'another person has to approve as well',
    happens: () => (proceeds(further), browser()),
    leads: {
      AWAITING_AUTHORIZATION: 'AWAITING_FURTHER_AUTHORIZATION',
      AWAITING_RE_AUTHORIZATION: 'AWAITING_FURTHER_AUTHORIZATION',
    },
  },
  {
    name: 'the user has confirmed elsewhere, and the client polls',
    happens: () => (proceeds(authorised), poll()),
    leads: {
      AWAITING_DECOUPLED_AUTHORIZATION: 'AUTHORIZED',
      AWAITING_DECOUPLED_PRE_AUTHORIZATION: 'PRE_AUTHORIZED',
      AWAITING_FURTHER_AUTHORIZATION: 'AUTHORIZED',
    },
  },
  {
    name: 'the user has refused elsewhere, and the client polls',
    happens: () => (proceeds(refused), poll()),
    leads: {
      AWAITING_DECOUPLED_AUTHORIZATION: 'REJECTED',
      AWAITING_DECOUPLED_PRE_AUTHORIZATION: 'REJECTED',
      AWAITING_FURTHER_AUTHORIZATION: 'REJECTED',
    },
  },
  {
    name: 'another person has to confirm elsewhere, and the client polls',
    happens: () => (proceeds(further), poll()),
    leads: { AWAITING_DECOUPLED_AUTHORIZATION: 'AWAITING_FURTHER_AUTHORIZATION' },
  },
  {
    name: 'the client chooses an SCA method',
    row: () => ({
      embedded: true,
      sealed_sca: aggregator.get(ConsentSecrets).sealSca(id, { methods: [{ id: 'sms' }] }),
    }),
    happens: () => (proceeds({ kind: 'enter-code', pending }), answer({ selectedScaMethod: { id: 'sms' } })),
    leads: { AWAITING_SCA_METHOD: 'AWAITING_SCA_CODE' },
  },
  {
    name: 'the client sends the SCA code',
    row: () => ({ embedded: true }),
    happens: () => (proceeds(authorised), answer({ scaCode: '123456' })),
    leads: { AWAITING_SCA_CODE: 'AUTHORIZED' },
  },
  {
    name: 'the client sends a wrong SCA code',
    row: () => ({ embedded: true }),
    happens: () => (fails('rejected'), answer({ scaCode: '000000' })),
    leads: {},
  },
  {
    name: 'the client sends a wrong SCA code for the third time',
    row: () => ({ embedded: true, sca_failures: 2 }),
    happens: () => (fails('rejected'), answer({ scaCode: '000000' })),
    leads: { AWAITING_SCA_CODE: 'FAILED' },
  },
  {
    name: 'the client asks to authorise it again',
    happens: () => aggregator.ask('PATCH /account-auth-requests', { as: shop, headers: { consent: token } }),
    leads: { AUTHORIZED: 'AWAITING_RE_AUTHORIZATION', EXPIRED: 'AWAITING_RE_AUTHORIZATION' },
  },
  {
    name: 'the client begins the second step of a pre-authorisation',
    happens: () => {
      const headers = { consent: token };
      return aggregator.ask('PUT /account-auth-requests', { as: shop, headers, body: subject });
    },
    leads: { PRE_AUTHORIZED: 'AWAITING_AUTHORIZATION' },
  },
  {
    name: 'the client reads, and the bank knows the consent no more',
    happens: () => {
      bank.operations.ACCOUNTS.mockRejectedValue(new InstitutionError('consent-gone', 'Gone'));
      return aggregator.ask('GET /accounts', { as: shop, headers: { consent: token } });
    },
    leads: { AUTHORIZED: 'REVOKED' },
  },
  {
    name: 'the client confirms continued access',
    happens: () => {
      const body = { lastConfirmedAt: now().toISOString() };
      return aggregator.ask(`POST /consents/${id}/extend`, { as: shop, body });
    },
    leads: {},
  },
  {
    name: 'its end passes',
    row: () => ({ expires_at: new Date(0) }),
    happens: () => sweepAfter(0),
    leads: { AUTHORIZED: 'EXPIRED', PRE_AUTHORIZED: 'EXPIRED' },
  },
  {
    name: 'a day passes',
    happens: () => (
      bank.proceed.mockResolvedValue({ kind: 'decoupled', message: 'Wait', pending }),
      sweepAfter(25 * HOUR_MS)
    ),
    leads: unfinished,
  },
];

describe.each(events)('when $name', ({ row = () => ({}), happens, leads }) => {
  it('only the statuses move that know it', async () => {
    const became: Record<string, unknown> = {};
    const expected = Object.fromEntries(all.map((status) => [status, leads[status] ?? status]));
    for (const status of all) {
      resetClock();
      await put(status, row());
      await happens();
      became[status] = (await rowNow())['status'];
    }
    expect(became).toEqual(expected);
  });
});

describe('when it is deleted', () => {
  it('is gone, whatever its status was', async () => {
    for (const status of all) {
      await put(status, {});
      expect((await aggregator.ask(`DELETE /consents/${id}`, { as: shop })).status).toBe(200);
      expect((await aggregator.ask(`GET /consents/${id}`, { as: shop })).status).toBe(404);
    }
  });
});
