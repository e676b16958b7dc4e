import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { transaction } from '#libs/database';
import { later, TestBff, type TestMerchant } from '../../../../test/support/bff.js';
import { Withdrawals } from '../consents/withdrawals.service.js';
import { ConnectionStatus } from './connection-state.js';
import { moveConnection } from './connections.queries.js';
import type { ConnectionView } from './connection.dto.js';
import { RenewalCompletion } from './renewal-completion.service.js';
import type { RenewalView } from './renewal.dto.js';
import { findRenewal } from './renewals.queries.js';

const hourMs = 3_600_000;
let bff: TestBff;
let merchant: TestMerchant;
let token: string;

beforeAll(async () => {
  bff = await TestBff.start();
  merchant = await bff.merchant();
  ({ token } = await bff.session(merchant, 'ada'));
  bff.aggregator.accounts = [
    {
      id: 'first',
      currency: 'GBP',
      accountIdentifications: [{ type: 'IBAN', identification: 'GB33BUKB20201555555555' }],
    },
  ];
});
afterAll(() => bff.close());
beforeEach(() => {
  bff.aggregator.calls.length = 0;
  bff.aggregator.heal();
});

const read = async (id: string) => (await bff.ask<ConnectionView>(`GET /v1/connections/${id}`, { as: token })).body;
const begin = (id: string, body: object = {}) =>
  bff.ask<RenewalView>(`POST /v1/connections/${id}/renewals`, { as: token, body });
const visit = (url: URL) => bff.ask(`GET /${url.pathname.slice(1)}${url.search}`);
const consentOf = ({ authorisationUrl }: RenewalView): string =>
  new URL(authorisationUrl ?? '').searchParams.get('consent') ?? '';
const renewal = async (id: string, renewalId: string) =>
  (await bff.ask<RenewalView>(`GET /v1/connections/${id}/renewals/${renewalId}`, { as: token })).body;

interface Kept {
  consent_id: string;
  sealed_consent_token: string;
  stops_at: Date | null;
  status: string;
}
async function kept(id: string): Promise<Kept> {
  const { rows } = await bff.db.pool.query<Kept>(
    'select consent_id, sealed_consent_token, stops_at, status from connections where id = $1',
    [id],
  );
  if (!rows[0]) throw new Error('no connection');
  return rows[0];
}

/** Runs what is due of the withdrawals of a connection, as the worker does. */
async function withdraw(id: string, ms = 60_000): Promise<string[]> {
  const { rows } = await bff.db.pool.query<{ id: string }>('select id from withdrawals where connection_id = $1', [id]);
  for (const row of rows) await later(ms, () => bff.get(Withdrawals).run(row.id));
  const ended = await bff.db.pool.query<{ consent_id: string }>(
    'select consent_id from withdrawals where connection_id = $1 and withdrawn_at is not null',
    [id],
  );
  return ended.rows.map((row) => row.consent_id);
}

async function lookAfter(renewalId: string): Promise<void> {
  const found = await findRenewal(bff.db.pool, renewalId);
  if (!found) throw new Error('no renewal');
  await bff.get(RenewalCompletion).lookAfter(found);
}

async function needUser(id: string, consentStatus: string): Promise<void> {
  const { consent_id: consentId } = await kept(id);
  const consent = bff.aggregator.consents.get(consentId);
  if (consent) consent.status = consentStatus;
  await bff.synchronise(id);
  expect((await read(id)).status).toBe('needs-user');
}

describe('a renewal', () => {
  it('leaves the consent in use until the new one is authorised, then puts it in its place at once', async () => {
    const { id, consentId } = await bff.connected(token);
    await bff.synchronise(id);
    const accounts = async () =>
      (await bff.ask<{ data: { id: string }[] }>('GET /v1/accounts', { as: token })).body.data;
    const before = { row: await kept(id), accounts: await accounts() };
    const { status, body } = await begin(id, { returnUrl: 'https://shop.example/back' });
    expect(status).toBe(201);
    expect(body.status).toBe('awaiting-authorisation');
    expect(await kept(id)).toEqual(before.row);

    bff.aggregator.terms = { expiresAt: '2099-01-01T00:00:00.000Z', featureScope: ['ACCOUNTS'] };
    bff.aggregator.accounts = [{ ...bff.aggregator.accounts[0], id: 'minted-anew' }];
    const answer = await visit(bff.aggregator.approve(consentOf(body)));
    bff.aggregator.terms = {};
    expect(answer.headers['location']).toBe(
      `https://shop.example/back?connection=${id}&status=active&renewal=${body.id}&renewal-status=completed`,
    );
    const after = await kept(id);
    expect(after).toMatchObject({ consent_id: consentOf(body), stops_at: new Date('2098-12-31T23:55:00.000Z') });
    expect(after.sealed_consent_token).not.toBe(before.row.sealed_consent_token);
    await bff.synchronise(id);
    expect((await read(id)).sync?.status).toBe('completed');
    expect((await accounts()).map((account) => account.id)).toEqual(before.accounts.map((account) => account.id));

    expect(bff.aggregator.consents.get(consentId)?.deleted).toBe(false);
    expect(await withdraw(id)).toEqual([consentId]);
    expect(bff.aggregator.consents.get(consentId)?.deleted).toBe(true);
    expect((await renewal(id, body.id)).formerConsentEndedAt).toBeDefined();
  });

  it('is finished once when its callback is hit several times, by whatever browser', async () => {
    const { id } = await bff.connected(token);
    const { body } = await begin(id);
    const url = bff.aggregator.approve(consentOf(body));
    const answers = await Promise.all([visit(url), visit(url), visit(url)]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect((await visit(url)).text).toContain('Your bank stays connected.');
    expect(bff.aggregator.callsOf('POST /consent-one-time-token')).toHaveLength(2);
    const { rows } = await bff.db.pool.query(
      "select data::json->>'status' as status from events where type = 'connection.renewal' and data::json->>'renewalId' = $1 order by sequence",
      [body.id],
    );
    expect(rows).toEqual([{ status: 'awaiting-authorisation' }, { status: 'completed' }]);
  });

  it('that is denied, abandoned, failed or mixed up leaves the connection wholly as it was', async () => {
    const { id } = await bff.connected(token);
    await bff.synchronise(id);
    const before = await kept(id);

    const denied = await begin(id);
    await visit(bff.aggregator.deny(consentOf(denied.body)));
    const mixedUp = await begin(id);
    const other = await begin((await bff.connected(token)).id);
    const crossed = new URL(bff.aggregator.approve(consentOf(mixedUp.body)));
    const stolen = bff.aggregator.approve(consentOf(other.body)).searchParams.get('one-time-token') ?? '';
    crossed.searchParams.set('one-time-token', stolen);
    await visit(crossed);
    const abandoned = await begin(id);
    await later(25 * hourMs, () => lookAfter(abandoned.body.id));
    bff.aggregator.fail({ route: 'POST /account-auth-requests' });
    expect((await begin(id)).status).toBe(503);

    const ends = await Promise.all([denied, mixedUp, abandoned].map(({ body }) => renewal(id, body.id)));
    expect(ends.map(({ status, reason }) => [status, reason])).toEqual([
      ['denied', 'access-denied'],
      ['failed', 'consent-mismatch'],
      ['abandoned', 'never-came-back'],
    ]);
    expect(await kept(id)).toEqual(before);
    const unused = [denied, mixedUp, abandoned].map(({ body }) => consentOf(body));
    expect((await withdraw(id, 26 * hourMs)).toSorted()).toEqual(unused.toSorted());
    await later(7 * hourMs, () => bff.synchronise(id));
    expect(await read(id)).toMatchObject({ status: 'active', health: 'healthy' });
  });

  it('replaces an earlier one that is still open', async () => {
    const { id } = await bff.connected(token);
    const [first, second] = [(await begin(id)).body, (await begin(id)).body];
    expect(await renewal(id, first.id)).toMatchObject({ status: 'replaced', reason: 'another-renewal' });
    await visit(bff.aggregator.approve(consentOf(first)));
    expect((await kept(id)).consent_id).not.toBe(consentOf(first));
    await visit(bff.aggregator.approve(consentOf(second)));
    expect((await kept(id)).consent_id).toBe(consentOf(second));
    const { body } = await bff.ask<{ data: RenewalView[] }>(`GET /v1/connections/${id}/renewals`, { as: token });
    expect(body.data.map(({ status }) => status)).toEqual(['completed', 'replaced']);
  });

  it('is one only, however many are begun at once, and the consents of the others end', async () => {
    const { id } = await bff.connected(token);
    const begun = await Promise.all([begin(id), begin(id), begin(id)]);
    const ends = await Promise.all(begun.map(({ body }) => renewal(id, body.id)));
    expect(ends.map(({ status }) => status).toSorted()).toEqual(['awaiting-authorisation', 'replaced', 'replaced']);
    expect(await withdraw(id)).toHaveLength(2);
  });

  it('is completed by the worker when the browser never came back', async () => {
    const { id } = await bff.connected(token);
    const { body } = await begin(id);
    bff.aggregator.approve(consentOf(body));
    await lookAfter(body.id);
    expect((await kept(id)).consent_id).toBe(consentOf(body));
  });

  it('waits for an aggregator that does not answer, and fails when that knows the consent no longer', async () => {
    const { id } = await bff.connected(token);
    const { body } = await begin(id);
    bff.aggregator.fail({ route: 'GET /consents/:id', status: 503, times: 9 });
    await lookAfter(body.id);
    expect((await renewal(id, body.id)).status).toBe('awaiting-authorisation');
    bff.aggregator.heal();
    const consent = bff.aggregator.consents.get(consentOf(body));
    if (consent) consent.deleted = true;
    await lookAfter(body.id);
    expect(await renewal(id, body.id)).toMatchObject({ status: 'failed', reason: 'consent-gone' });
    expect((await read(id)).status).toBe('active');
  });

  it('ends nothing before the institution has accepted it, and asks again', async () => {
    const { id, consentId } = await bff.connected(token);
    const { body } = await begin(id);
    await visit(bff.aggregator.approve(consentOf(body)));
    bff.aggregator.fail({ route: 'DELETE /consents/:id', status: 200, body: { data: { deleteStatus: 'FAILED' } } });
    expect(await withdraw(id)).toEqual([]);
    bff.aggregator.fail({ route: 'DELETE /consents/:id', status: 503 });
    expect(await withdraw(id, hourMs)).toEqual([]);
    expect(await withdraw(id, 24 * hourMs)).toEqual([consentId]);
    const { rows } = await bff.db.pool.query('select attempts, problem from withdrawals where consent_id = $1', [
      consentId,
    ]);
    expect(rows).toEqual([{ attempts: 3, problem: null }]);
  });

  it('does not let a late proof against the old consent stop the new one', async () => {
    const { id, consentId } = await bff.connected(token);
    const { body } = await begin(id);
    await visit(bff.aggregator.approve(consentOf(body)));
    const move = { id, to: ConnectionStatus.needsUser, reason: 'consent-refused' };
    const late = await transaction(bff.db.pool, (tx) => moveConnection(tx, { ...move, consentId }));
    expect(late).toBe(false);
    expect((await read(id)).status).toBe('active');
  });
});

describe('a renewal of a connection that has stopped', () => {
  it('authorises the same consent again when it has expired, and keeps it', async () => {
    const { id, consentId } = await bff.connected(token);
    await needUser(id, 'EXPIRED');
    const { body } = await begin(id);
    expect(consentOf(body)).toBe(consentId);
    const answer = await visit(bff.aggregator.approve(consentId));
    expect(answer.text).toContain('Your bank stays connected.');
    expect(await read(id)).toMatchObject({ status: 'active' });
    expect((await renewal(id, body.id)).status).toBe('completed');
    expect((await kept(id)).consent_id).toBe(consentId);
    expect(await withdraw(id)).toEqual([]);
  });

  it('takes a new consent when the old one cannot be authorised again', async () => {
    const { id, consentId } = await bff.connected(token);
    await needUser(id, 'REVOKED');
    const { body } = await begin(id);
    expect(consentOf(body)).not.toBe(consentId);
    await visit(bff.aggregator.approve(consentOf(body)));
    expect((await read(id)).status).toBe('active');

    const other = await bff.connected(token);
    await needUser(other.id, 'EXPIRED');
    bff.aggregator.fail({ route: 'PATCH /account-auth-requests', status: 424 });
    expect(consentOf((await begin(other.id)).body)).not.toBe(other.consentId);
  });

  it('is refused when the connection has ended, and unknown to others', async () => {
    const { id } = await bff.connected(token);
    const { token: bob } = await bff.session(merchant, 'bob');
    expect((await bff.ask(`POST /v1/connections/${id}/renewals`, { as: bob, body: {} })).status).toBe(404);
    const open = await begin(id);
    await bff.ask(`DELETE /v1/connections/${id}`, { as: token });
    expect(await renewal(id, open.body.id)).toMatchObject({ status: 'replaced', reason: 'connection-ended' });
    const answer = await begin(id);
    expect(answer.status).toBe(409);
    expect(answer.text).toContain('connect anew');
  });
});

describe('disconnecting', () => {
  it('is done here at once, and at an institution that refuses as soon as it accepts', async () => {
    const { id, consentId } = await bff.connected(token);
    bff.aggregator.fail({ route: 'DELETE /consents/:id', status: 200, body: { data: { deleteStatus: 'FAILED' } } });
    await bff.ask(`DELETE /v1/connections/${id}`, { as: token });
    expect((await read(id)).status).toBe('revoked');
    expect(bff.aggregator.consents.get(consentId)?.deleted).toBe(false);
    expect(await withdraw(id)).toEqual([consentId]);
  });
});
