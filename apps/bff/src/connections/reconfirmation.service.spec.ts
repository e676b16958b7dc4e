import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { now } from '#libs/server';
import { later, TestBff, type TestMerchant } from '../../../../test/support/bff.js';
import { ConsentProbe } from '../consents/consent-probe.service.js';
import { Notices } from '../consents/notices.service.js';
import type { ConnectionView } from './connection.dto.js';

const dayMs = 86_400_000;
let bff: TestBff;
let merchant: TestMerchant;
let token: string;

const ahead = (days: number): string => new Date(now().getTime() + days * dayMs).toISOString();

beforeAll(async () => {
  bff = await TestBff.start();
  merchant = await bff.merchant();
  ({ token } = await bff.session(merchant, 'ada'));
  bff.aggregator.institutions.push({ id: 'banque', name: 'Banque', countries: [{ countryCode2: 'FR' }] });
});
afterAll(() => bff.close());
beforeEach(() => {
  bff.aggregator.heal();
  bff.aggregator.terms = { authorizedAt: ahead(0), reconfirmBy: ahead(90) };
});

/** A session lasts half an hour: whoever comes back days later has a new one. */
const session = async () => (await bff.session(merchant, 'ada')).token;
const confirm = async (id: string) =>
  bff.ask<ConnectionView>(`POST /v1/connections/${id}/reconfirmation`, { as: await session() });
const read = async (id: string) =>
  (await bff.ask<ConnectionView>(`GET /v1/connections/${id}`, { as: await session() })).body;

describe('a confirmation by the customer', () => {
  it('moves the clock in the United Kingdom, without the bank', async () => {
    const { id, consentId } = await bff.connected(token);
    expect((await read(id)).forecast).toMatchObject({ cause: 'reconfirmation', action: 'reconfirm', daysLeft: 90 });
    const { status, body } = await later(80 * dayMs, () => confirm(id));
    expect(status).toBe(200);
    const [call] = bff.aggregator.callsOf('POST /consents/:id/extend');
    expect(call?.path).toBe(`/consents/${consentId}/extend`);
    expect(body.confirmedAt).toBe(call?.body['lastConfirmedAt']);
    expect(Date.parse(body.reconfirmBy ?? '')).toBeGreaterThan(Date.parse(ahead(169)));
  });

  it('brings back a connection that had stopped for want of it', async () => {
    const { id } = await bff.connected(token);
    await later(91 * dayMs, async () => {
      await bff.get(Notices).run();
      expect(await read(id)).toMatchObject({ status: 'needs-user', reason: 'reconfirmation' });
      expect((await confirm(id)).body).toMatchObject({ status: 'active', forecast: { outlook: 'ahead' } });
    });
  });

  it('is kept and taken to the aggregator later when that did not answer', async () => {
    const { id } = await bff.connected(token);
    bff.aggregator.fail({ route: 'POST /consents/:id/extend' });
    const before = (await read(id)).reconfirmBy;
    const { status, body } = await later(10 * dayMs, () => confirm(id));
    expect({ status, reconfirmBy: body.reconfirmBy }).toEqual({ status: 200, reconfirmBy: before });
    await later(10 * dayMs, () => bff.get(ConsentProbe).run(id));
    expect(Date.parse((await read(id)).reconfirmBy ?? '')).toBeGreaterThan(Date.parse(ahead(99)));
  });

  it('is refused where the law leaves it to the bank, and where it comes too late', async () => {
    const { id } = await bff.connected(token, 'banque');
    const elsewhere = await confirm(id);
    expect(elsewhere.status).toBe(409);
    expect(elsewhere.text).toContain('renew the connection instead');

    const late = await bff.connected(token);
    const consent = bff.aggregator.consents.get(late.consentId);
    if (consent) consent.status = 'REVOKED';
    expect((await confirm(late.id)).status).toBe(409);
    expect((await read(late.id)).confirmedAt).toBeUndefined();
    const { token: bob } = await bff.session(merchant, 'bob');
    expect((await bff.ask(`POST /v1/connections/${id}/reconfirmation`, { as: bob })).status).toBe(404);
  });
});
