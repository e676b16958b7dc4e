import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { now } from '#libs/server';
import { call } from '../../apps/stack/src/http-call.js';
import { until } from '../support/receiver.js';
import { type PsuActs, type TestMerchant, type TestSession, TestStack } from '../support/stack.js';

interface Forecast {
  outlook: string;
  cause?: string;
  action: string;
  daysLeft?: number;
  accountIds: string[];
}
interface Connection {
  id: string;
  status: string;
  reason?: string;
  authorisationUrl?: string;
  lastSyncedAt?: string;
  sync?: { status: string };
}
interface Renewal {
  id: string;
  status: string;
  authorisationUrl?: string;
  formerConsentEndedAt?: string;
}
interface Event {
  sequence: number;
  type: string;
  data: Record<string, unknown>;
}

const institutionId = 'meridian-sandbox';
const bank = 'meridian';

/** A consent from its first authorisation to its end and back, at a bank that keeps an account of its own. */
describe('a customer’s consent, over the months', { timeout: 120_000 }, () => {
  let stack: TestStack;
  let merchant: TestMerchant;
  let session: TestSession;
  let id: string;
  let accountIds: string[];

  beforeAll(async () => {
    stack = await TestStack.start();
    ({ merchant, session } = await stack.merchantWithCustomer());
  });
  afterAll(() => stack.stop());

  const bff = <T>(path: string, options: Parameters<typeof call>[1] = {}): Promise<T> =>
    call<T>(`${stack.urls.bff}/v1${path}`, { bearer: session.token, ...options });
  const control = <T = object>(path: string, body: object): Promise<T> =>
    call<T>(`${stack.urls.sandbox}/control/${path}`, { method: 'POST', body });
  const connection = () => bff<Connection>(`/connections/${id}`);
  const forecast = () => bff<Forecast>(`/connections/${id}/forecast`);
  const begin = () => bff<Renewal>(`/connections/${id}/renewals`, { method: 'POST', body: {} });
  const renewal = (renewalId: string) => bff<Renewal>(`/connections/${id}/renewals/${renewalId}`);
  const events = async (type: string): Promise<Event[]> => {
    const { data } = await bff<{ data: Event[] }>('/events?limit=500', { bearer: merchant.apiKey });
    return data.filter((event) => event.type === type && event.data['connectionId'] === id);
  };
  /** The customer at the bank’s pages, and the browser on its way back, which is no browser that has been here before. */
  const visit = async ({ authorisationUrl = '' }: { authorisationUrl?: string }, acts: PsuActs = {}) => {
    const answer = await fetch(await stack.authorise(authorisationUrl, acts), { signal: AbortSignal.timeout(30_000) });
    expect(answer.status).toBe(200);
    return answer.text();
  };
  const status = (wanted: string) => until(async () => (await connection()).status === wanted, 20_000);
  const syncedSince = (at: string) =>
    until(async () => {
      const { lastSyncedAt = '', sync } = await connection();
      return lastSyncedAt > at && sync?.status === 'completed';
    }, 60_000);
  const columns = (set: string) => stack.sql(`UPDATE bff.connections SET ${set} WHERE id = $1`, [id]);
  /** Makes everything due, as if hours had passed and no call had been made today. */
  const readAgain = async () => {
    await stack.sql('DELETE FROM bff.call_ledgers WHERE connection_id = $1', [id]);
    await stack.sql('UPDATE bff.account_schedules SET due_at = now(), ready_at = now() WHERE connection_id = $1', [id]);
  };
  const accounts = async () =>
    (await bff<{ data: { id: string }[] }>('/accounts')).data.map((each) => each.id).toSorted();

  interface KnownConsent {
    consent_id: string;
    institution_consent_id: string;
  }
  /** The consent in use: under the aggregator’s name and under the bank’s. */
  const inUse = async (): Promise<KnownConsent> => {
    const [row] = await stack.sql<KnownConsent>(
      `SELECT c.consent_id, a.institution_consent_id FROM bff.connections c
       JOIN aggregator.consents a ON a.id = c.consent_id WHERE c.id = $1`,
      [id],
    );
    if (!row) throw new Error('The connection has no consent');
    return row;
  };

  it('begins with a forecast of its end', async () => {
    const asked = await bff<Connection>('/connections', { method: 'POST', body: { institutionId } });
    ({ id } = asked);
    await visit(asked);
    await syncedSince('');
    accountIds = await accounts();
    expect(accountIds.length).toBeGreaterThan(0);
    const { accountIds: endangered, ...rest } = await forecast();
    expect(rest).toMatchObject({ outlook: 'ahead', cause: 'consent-expiry', action: 'renew', daysLeft: 90 });
    expect(endangered.toSorted()).toEqual(accountIds);
  });

  it('is announced before it ends', async () => {
    // Eighty-four days later: the bank’s clock is moved, and ours as far as this connection goes.
    await control('clock', { advance: 'P84D' });
    await columns("stops_at = stops_at - interval '84 days', next_notice_at = now()");
    await until(async () => (await events('connection.expiring')).length > 0);
    const [event] = await events('connection.expiring');
    expect(event?.data).toMatchObject({ notice: 7, daysLeft: 6, cause: 'consent-expiry', action: 'renew' });
    const { data } = await bff<{ data: (Forecast & { connectionId: string })[] }>('/forecast', {
      bearer: merchant.apiKey,
    });
    expect(data).toMatchObject([{ connectionId: id, daysLeft: 6, action: 'renew' }]);
  });

  it('survives a renewal that its customer refuses', async () => {
    const before = await inUse();
    const { id: renewalId, authorisationUrl } = await begin();
    expect(await visit({ authorisationUrl: authorisationUrl ?? '' }, { decision: 'deny' })).toContain('did not renew');
    expect((await renewal(renewalId)).status).toBe('denied');
    expect(await inUse()).toEqual(before);
    const since = now().toISOString();
    await readAgain();
    await syncedSince(since);
  });

  it('is renewed while the old one is in use, and the old one ends at the bank', async () => {
    const old = await inUse();
    const begun = await begin();
    expect(await inUse()).toEqual(old);
    const since = now().toISOString();
    expect(await visit({ authorisationUrl: begun.authorisationUrl ?? '' })).toContain('Your bank stays connected.');
    expect((await renewal(begun.id)).status).toBe('completed');
    expect((await inUse()).institution_consent_id).not.toBe(old.institution_consent_id);
    await syncedSince(since);
    expect(await accounts()).toEqual(accountIds);
    expect(await forecast()).toMatchObject({ outlook: 'ahead', daysLeft: 90 });
    await until(async () => (await renewal(begun.id)).formerConsentEndedAt !== undefined, 30_000);
    const again = { bank, consentId: old.institution_consent_id };
    await expect(control('withdraw', again)).rejects.toThrow('no authorised account consent');
    expect(await events('connection.expiring')).toHaveLength(1);
  });

  it('that was revoked at the bank is found by the probe, and brought back by a renewal', async () => {
    const { institution_consent_id: consentId } = await inUse();
    await control('withdraw', { bank, consentId });
    await columns(
      "next_sync_at = now() + interval '1 hour', last_synced_at = now() - interval '2 days', next_probe_at = now()",
    );
    await status('needs-user');
    expect((await connection()).reason).toBe('revoked-at-institution');
    expect((await events('connection.updated')).at(-1)?.data).toMatchObject({ status: 'needs-user' });
    expect(await forecast()).toMatchObject({ outlook: 'stopped', action: 'renew', daysLeft: 0 });

    const since = now().toISOString();
    await visit(await begin());
    await syncedSince(since);
    expect((await connection()).status).toBe('active');
    expect(await accounts()).toEqual(accountIds);
  });

  it('that has ended of itself is authorised again under its own name', async () => {
    const before = await inUse();
    // As the aggregator's sweep leaves it when its time is over.
    const end =
      "UPDATE aggregator.consents SET expires_at = now() - interval '1 second', status = 'EXPIRED' WHERE id = $1";
    await stack.sql(end, [before.consent_id]);
    await columns('stops_at = now(), next_notice_at = now()');
    await status('needs-user');
    expect(await connection()).toMatchObject({ reason: 'consent-expiry' });
    expect((await events('connection.expiring')).at(-1)?.data).toMatchObject({ notice: 0, daysLeft: 0 });
    const since = now().toISOString();
    await visit(await begin());
    await syncedSince(since);
    expect((await inUse()).consent_id).toBe(before.consent_id);
    expect(await accounts()).toEqual(accountIds);
  });

  it('that only has to be confirmed is confirmed to us, and goes on', async () => {
    const asked = await bff<Connection>('/connections', { method: 'POST', body: { institutionId: 'tamar-sandbox' } });
    ({ id } = asked);
    await visit(asked);
    await syncedSince('');
    const ahead = { outlook: 'ahead', cause: 'reconfirmation', action: 'reconfirm', daysLeft: 90 };
    expect(await forecast()).toMatchObject(ahead);
    await columns("reconfirm_by = now() + interval '3 days', stops_at = now() + interval '3 days'");
    expect(await forecast()).toMatchObject({ ...ahead, daysLeft: 3 });
    await bff(`/connections/${id}/reconfirmation`, { method: 'POST', body: {} });
    await until(async () => (await forecast()).daysLeft === 90, 20_000);
  });

  it('is given, and renewed, on a device of the customer’s, who is sent nowhere', async () => {
    const headers = { 'psu-id': 'ada', 'psu-ip-address': '192.0.2.7' };
    const body = { institutionId: 'fjordbank-sandbox' };
    const asked = await bff<Connection>('/connections', { method: 'POST', body, headers });
    ({ id } = asked);
    expect(asked).toMatchObject({ status: 'awaiting-authorisation' });
    expect(asked.authorisationUrl).toBeUndefined();
    const confirm = async (consent: string) => {
      const text = `SELECT institution_consent_id FROM aggregator.consents WHERE id = (${consent})`;
      const [row] = await stack.sql<{ institution_consent_id: string }>(text, [id]);
      const consentId = row?.institution_consent_id;
      await control('decoupled', { bank: 'fjordbank', consentId, decision: 'approve' });
    };
    await confirm('SELECT consent_id FROM bff.connections WHERE id = $1');
    await status('active');
    await syncedSince('');
    const begun = await bff<Renewal>(`/connections/${id}/renewals`, { method: 'POST', body: {}, headers });
    expect(begun.authorisationUrl).toBeUndefined();
    await confirm('SELECT consent_id FROM bff.renewals WHERE connection_id = $1');
    await until(async () => (await renewal(begun.id)).status === 'completed', 20_000);
    expect(await connection()).toMatchObject({ status: 'active' });
  });
});
