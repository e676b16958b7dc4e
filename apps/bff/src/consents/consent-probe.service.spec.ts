import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { now } from '#libs/server';
import { later, TestBff, type TestMerchant } from '../../../../test/support/bff.js';
import { ConsentHints } from '../connections/consent-hints.service.js';
import type { ConnectionView } from '../connections/connection.dto.js';
import { ConsentProbe } from './consent-probe.service.js';
import { nextProbe } from './probe-schedule.js';

const dayMs = 86_400_000;
let bff: TestBff;
let merchant: TestMerchant;
let token: string;
let id: string;
let consentId: string;

beforeAll(async () => {
  bff = await TestBff.start();
  merchant = await bff.merchant();
  ({ token } = await bff.session(merchant, 'ada'));
});
afterAll(() => bff.close());
beforeEach(async () => {
  bff.aggregator.heal();
  ({ id, consentId } = await bff.connected(token));
  await bff.synchronise(id);
  bff.aggregator.calls.length = 0;
});

const read = async () => (await bff.ask<ConnectionView>(`GET /v1/connections/${id}`, { as: token })).body;
const probe = (ms = 2 * dayMs) => later(ms, () => bff.get(ConsentProbe).run(id));
const consent = () => {
  const found = bff.aggregator.consents.get(consentId);
  if (!found) throw new Error('no consent');
  return found;
};

describe('a probe', () => {
  it('believes the aggregator that a consent has ended, and says why', async () => {
    for (const [status, reason] of [
      ['REVOKED', 'revoked-at-institution'],
      ['EXPIRED', 'consent-expiry'],
      ['INVALID', 'consent-invalid'],
    ]) {
      ({ id, consentId } = await bff.connected(token));
      consent().status = status ?? '';
      await probe();
      expect(await read()).toMatchObject({ status: 'needs-user', reason });
      expect((await read()).forecast).toMatchObject({ outlook: 'stopped', cause: reason, action: 'renew' });
    }
    ({ id, consentId } = await bff.connected(token));
    consent().deleted = true;
    await probe();
    expect(await read()).toMatchObject({ status: 'needs-user', reason: 'consent-gone' });
  });

  it('finds out at the bank what the aggregator does not know, with one call for the list of accounts', async () => {
    bff.aggregator.fail({ route: 'GET /accounts', status: 403 });
    await probe();
    expect(bff.aggregator.callsOf('GET /accounts')).toHaveLength(1);
    expect(await read()).toMatchObject({ status: 'needs-user', reason: 'consent-refused' });
  });

  it('does not ask the bank when a synchronisation has just gone well, unless there is a hint', async () => {
    await probe(60_000);
    expect(bff.aggregator.callsOf('GET /accounts')).toHaveLength(0);
    bff.aggregator.fail({ route: 'GET /accounts', status: 403 });
    expect(await bff.get(ConsentHints).consentChanged(merchant.id, consentId)).toBe(id);
    expect((await read()).status).toBe('needs-user');
    expect(await bff.get(ConsentHints).consentChanged(merchant.id, crypto.randomUUID())).toBeUndefined();
    const { id: other } = await bff.merchant('Other Shop');
    expect(await bff.get(ConsentHints).consentChanged(other, consentId)).toBeUndefined();
  });

  it('believes in no end while the customer may be giving the next consent at the bank', async () => {
    const minute = 60_000;
    expect((await bff.ask(`POST /v1/connections/${id}/renewals`, { as: token, body: {} })).status).toBe(201);
    consent().status = 'REVOKED';
    await probe(minute);
    expect(await read()).toMatchObject({ status: 'active' });
    const { rows } = await bff.db.pool.query<{ at: Date }>(
      'select next_probe_at as at from connections where id = $1',
      [id],
    );
    expect(rows[0]?.at.getTime()).toBeLessThan(now().getTime() + 2 * 60 * minute);
    await probe(60 * minute);
    expect(await read()).toMatchObject({ status: 'needs-user', reason: 'revoked-at-institution' });
  });

  it('moves nothing on a fault that passes, and comes again within the hour', async () => {
    const faults = [
      { route: 'GET /consents/:id' },
      { route: 'GET /consents/:id', status: 500 },
      { route: 'GET /consents/:id', status: 429 },
      { route: 'GET /accounts' },
      { route: 'GET /accounts', status: 424, body: failedWith(500) },
      { route: 'GET /accounts', status: 424, body: failedWith(401) },
      { route: 'GET /accounts', status: 424, body: failedWith(429) },
    ];
    for (const fault of faults) {
      bff.aggregator.heal();
      bff.aggregator.fail({ ...fault, times: 9 });
      await probe();
      expect({ fault, status: (await read()).status }).toEqual({ fault, status: 'active' });
    }
    const { rows } = await bff.db.pool.query<{ next_probe_at: Date }>(
      'select next_probe_at from connections where id = $1',
      [id],
    );
    const wait = Number(rows[0]?.next_probe_at) - now().getTime() - 2 * dayMs;
    expect(wait).toBeLessThan(1.1 * 3_600_000);
  });

  it('takes over what the consent says of its time now', async () => {
    const expiresAt = new Date(now().getTime() + 40 * dayMs).toISOString();
    consent().terms = { expiresAt };
    await probe();
    expect(await read()).toMatchObject({ expiresAt, forecast: { outlook: 'ahead', cause: 'consent-expiry' } });
  });

  it('brings back a connection that was given up and is good after all', async () => {
    bff.aggregator.fail({ route: 'GET /accounts', status: 403 });
    await probe();
    expect((await read()).status).toBe('needs-user');
    await probe(3 * dayMs);
    expect((await read()).status).toBe('active');
  });

  it('ends an earlier connection whose accounts have all passed to a later one of the same login', async () => {
    const account = (number: string) => ({
      id: number,
      currency: 'GBP',
      accountIdentifications: [{ type: 'IBAN' as const, identification: `GB33BUKB2020155555${number}` }],
    });
    const { token: carol } = await bff.session(merchant, 'carol');
    const connect = async (...numbers: string[]) => {
      bff.aggregator.accounts = numbers.map(account);
      bff.aggregator.terms = { authorizedAt: now().toISOString() };
      const made = await bff.connected(carol);
      await bff.synchronise(made.id);
      return made;
    };
    const first = await connect('0001');
    const other = await connect('0002');
    const second = await connect('0001', '0003');
    // The earlier one is read once more, and takes nothing back.
    bff.aggregator.accounts = [account('0001')];
    await later(7 * 3_600_000, () => bff.synchronise(first.id));
    await later(600_000, () => bff.get(ConsentProbe).run(second.id));
    const { body } = await bff.ask<{ data: ConnectionView[] }>('GET /v1/connections', { as: carol });
    const statuses = body.data.map((each) => [each.id, each.status, each.reason]);
    expect(statuses).toEqual([
      [second.id, 'active', undefined],
      [other.id, 'active', undefined],
      [first.id, 'revoked', 'superseded'],
    ]);
    const { rows } = await bff.db.pool.query('select consent_id, reason from withdrawals where connection_id = $1', [
      first.id,
    ]);
    expect(rows).toEqual([{ consent_id: first.consentId, reason: 'superseded' }]);
    bff.aggregator.accounts = [];
    bff.aggregator.terms = {};
  });

  it('comes daily, a tenth sooner or later, and leaves alone what has ended', async () => {
    const at = new Date('2026-01-01T00:00:00Z');
    const hours = (start: string): number =>
      (nextProbe(`${start}-0000-4000-8000-000000000000`, at).getTime() - at.getTime()) / 3_600_000;
    expect([hours('00000000'), hours('80000000'), hours('ffffffff')].map(Math.round)).toEqual([22, 24, 26]);
    await bff.ask(`DELETE /v1/connections/${id}`, { as: token });
    bff.aggregator.calls.length = 0;
    await probe();
    expect(bff.aggregator.calls).toEqual([]);
  });
});

function failedWith(httpStatusCode: number): object {
  return { error: { code: 424, source: 'INSTITUTION', institutionError: { errorMessage: 'no', httpStatusCode } } };
}
