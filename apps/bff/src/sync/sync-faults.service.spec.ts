import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { later, TestBff } from '../../../../test/support/bff.js';
import type { ConnectionView } from '../connections/connection.dto.js';

describe('a proof that a consent has ended', () => {
  let bff: TestBff;
  beforeAll(async () => {
    bff = await TestBff.start();
    bff.aggregator.accounts = [{ id: 'acc', currency: 'GBP' }];
  });
  afterAll(() => bff.close());

  it('is none while the customer is at the bank to give the next one, and holds when they do not come back', async () => {
    const { token } = await bff.session(await bff.merchant(), 'ada');
    const connection = async () => (await bff.ask<ConnectionView>(`GET /v1/connections/${id}`, { as: token })).body;
    const { id, consentId } = await bff.connected(token);
    await bff.synchronise(id);
    expect((await bff.ask(`POST /v1/connections/${id}/renewals`, { as: token, body: {} })).status).toBe(201);
    const consent = bff.aggregator.consents.get(consentId);
    if (consent) consent.deleted = true;
    const minute = 60_000;
    await later(minute, () => bff.ask(`POST /v1/connections/${id}/sync`, { as: token, body: {} }));
    await later(minute, () => bff.synchronise(id));
    expect(await connection()).toMatchObject({ status: 'active', health: 'degraded' });
    await later(24 * 60 * minute, () => bff.synchronise(id));
    expect(await connection()).toMatchObject({ status: 'needs-user', reason: 'consent-refused' });
  });
});
