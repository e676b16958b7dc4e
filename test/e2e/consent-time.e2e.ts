import { getQueueToken } from '@nestjs/bullmq';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Consent, Envelope } from '#libs/contract';
import type { Queue } from '#libs/database';
import { now, resetClock, setClock } from '#libs/server';
import { consentsQueue } from '../../apps/aggregator/src/consents/consent-sweep.service.js';
import { WorkerModule } from '../../apps/aggregator/src/worker.module.js';
import { BankFlows, tokenOf } from '../support/bank-flows.js';

const HOUR_MS = 3_600_000;

/** How consents end by themselves: the aggregator with its worker, the sandbox's banks, and the clock of both moved. */
describe('the time of a consent', () => {
  let flows: BankFlows;
  beforeAll(async () => {
    flows = await BankFlows.start([WorkerModule]);
  });
  afterAll(() => flows.close());
  afterEach(async () => {
    resetClock();
    await flows.sandbox.calm();
  });

  /** Both clocks move, then the worker finds the sweep in its queue. */
  async function pass(hours: number): Promise<void> {
    const later = new Date(now().getTime() + hours * HOUR_MS);
    setClock(() => later);
    await flows.sandbox.calm();
    await flows.aggregator.app.get<Queue>(getQueueToken(consentsQueue), { strict: false }).add('sweep', {});
  }

  /** As the list shows it: to ask for the one consent would end it by itself. */
  async function listed(id: string): Promise<Consent | undefined> {
    const { body } = await flows.aggregator.ask<Envelope<Consent[]>>('GET /consents', { as: flows.shop });
    return body.data.find((consent) => consent.id === id);
  }

  const swept = (id: string, status: string) =>
    vi.waitFor(async () => expect((await listed(id))?.status).toBe(status), { timeout: 10_000, interval: 50 });

  it('ends at its date, and may be authorised again (lindenhof)', async () => {
    const expiresAt = new Date(now().getTime() + 30 * 24 * HOUR_MS).toISOString();
    const begun = await flows.begin('lindenhof', { accountRequest: { expiresAt } });
    const consent = tokenOf(await flows.visit(begun));
    await flows.reads(consent);
    await pass(31 * 24);
    await swept(begun.id, 'EXPIRED');
    const refused = await flows.aggregator.ask('GET /accounts', { as: flows.shop, headers: { consent } });
    expect(refused.status).toBe(403);
    const again = await flows.ask('PATCH /account-auth-requests', { expected: 201, headers: { consent } });
    expect(again).toMatchObject({ id: begun.id, status: 'AWAITING_RE_AUTHORIZATION' });
    expect(tokenOf(await flows.visit(again))).toBe(consent);
    await flows.reads(consent);
  });

  it('lasts as long as its user confirms it, where it has no end of its own (tamar)', async () => {
    const begun = await flows.begin('tamar');
    const consent = tokenOf(await flows.visit(begun));
    const status = async () =>
      (await flows.aggregator.ask('GET /accounts', { as: flows.shop, headers: { consent } })).status;
    const confirm = () =>
      flows.ask(`POST /consents/${begun.id}/extend`, { expected: 200, body: { lastConfirmedAt: now().toISOString() } });
    const daysLeft = ({ reconfirmBy = '' }: Pick<Consent, 'reconfirmBy'>) =>
      (Date.parse(reconfirmBy) - now().getTime()) / (24 * HOUR_MS);
    const authorised = await listed(begun.id);
    expect(authorised?.expiresAt).toBeUndefined();
    expect(authorised && daysLeft(authorised)).toBeCloseTo(90, 1);
    await pass(80 * 24);
    expect(daysLeft(await confirm())).toBeCloseTo(90, 1);
    await pass(85 * 24);
    expect(await status()).toBe(200);
    await pass(6 * 24);
    expect(await status()).toBe(403);
    expect((await listed(begun.id))?.status).toBe('AUTHORIZED');
    await confirm();
    expect(await status()).toBe(200);
  });

  it('ends when it ends at the bank (lindenhof)', async () => {
    const begun = await flows.begin('lindenhof');
    const consent = tokenOf(await flows.visit(begun));
    await flows.sandbox.control('clock', { advance: 'P200D' });
    const refused = await flows.aggregator.ask('GET /accounts', { as: flows.shop, headers: { consent } });
    expect(refused.status).toBe(403);
    expect((await flows.consentOf(begun.id)).status).toBe('EXPIRED');
  });

  it('ends a day after its user was asked and did not come (meridian)', async () => {
    const begun = await flows.begin('meridian');
    await pass(25);
    await swept(begun.id, 'EXPIRED');
    expect((await flows.visit(begun)).location).toBeUndefined();
    expect((await listed(begun.id))?.status).toBe('EXPIRED');
  });

  it('goes on as before when nobody comes to authorise it again (lindenhof)', async () => {
    const begun = await flows.begin('lindenhof');
    const consent = tokenOf(await flows.visit(begun));
    await flows.ask('PATCH /account-auth-requests', { expected: 201, headers: { consent } });
    await pass(25);
    await swept(begun.id, 'AUTHORIZED');
    expect(await flows.reads(consent)).not.toHaveLength(0);
  });
});
