import { describe, expect, it } from 'vitest';
import type { Consent, Envelope } from '#libs/contract';
import { InstitutionError, type Grant, type Step } from '#libs/connectors';
import { now, setClock } from '#libs/server';
import { scriptedInstitution } from '../../../../test/support/scripted-connector.js';
import { ConsentSweep } from '../consents/consent-sweep.service.js';
import { scriptedShop } from '../../../../test/support/scripted-shop.js';

const world = scriptedShop();

const pending: Grant = { institutionConsentId: 'bg-1', state: { authorisationId: 'a-1' } };

const get = async (id: string) =>
  (await world.aggregator.ask<Envelope<Consent>>(`GET /consents/${id}`, { as: world.shop })).body.data;
const nextStep = (step: Step) => world.bank.proceed.mockResolvedValueOnce(step);
const granted: Step = { kind: 'authorised', grant: { ...pending, state: {} } };
const inMinutes = (minutes: number) => {
  const at = new Date(now().getTime() + minutes * 60_000);
  setClock(() => at);
};

describe('a decoupled authorisation', () => {
  const decoupled = { kind: 'decoupled', message: 'See your phone', pending } as const satisfies Step;

  async function begun(step: Step = decoupled): Promise<string> {
    world.bank.operations.INITIATE_ACCOUNT_REQUEST.mockResolvedValueOnce(step);
    const { status, body } = await world.aggregator.ask<Envelope<Consent>>('POST /account-auth-requests', {
      as: world.shop,
      body: { institutionId: scriptedInstitution.id, applicationUserId: 'ann' },
    });
    expect(status).toBe(201);
    expect(body.data.status).toBe('AWAITING_DECOUPLED_AUTHORIZATION');
    for (const link of ['authorisationUrl', 'qrCodeUrl']) expect(body.data).not.toHaveProperty(link);
    return body.data.id;
  }

  it('is seen to be over by polling', async () => {
    const id = await begun();
    nextStep(decoupled);
    expect((await get(id)).status).toBe('AWAITING_DECOUPLED_AUTHORIZATION');
    expect(world.bank.proceed.mock.calls[0]?.[2]).toEqual({ poll: true });
    inMinutes(1);
    nextStep(granted);
    expect(await get(id)).toMatchObject({ status: 'AUTHORIZED', consentToken: expect.any(String) });
  });

  it('asks the bank once a second at most, however often the client polls', async () => {
    const id = await begun();
    const at = now();
    setClock(() => at);
    world.bank.proceed.mockResolvedValue(decoupled);
    await Promise.all([1, 2, 3, 4].map(() => get(id)));
    await get(id);
    expect(world.bank.proceed).toHaveBeenCalledTimes(1);
    setClock(() => new Date(at.getTime() + 1_000));
    await get(id);
    expect(world.bank.proceed).toHaveBeenCalledTimes(2);
  });

  it('stays what it is while the bank does not answer', async () => {
    const id = await begun();
    world.bank.proceed.mockRejectedValueOnce(new InstitutionError('unavailable', 'Down'));
    expect((await get(id)).status).toBe('AWAITING_DECOUPLED_AUTHORIZATION');
    inMinutes(1);
    nextStep({ kind: 'rejected', reason: 'Declined' });
    expect((await get(id)).status).toBe('REJECTED');
  });

  it('is followed by the sweep too, less often the longer it takes, and ends after a day', async () => {
    const own: Grant = { institutionConsentId: 'swept', state: {} };
    const id = await begun({ ...decoupled, pending: own });
    const sweep = () => world.aggregator.get(ConsentSweep).run();
    // The sweep asks after the consents of the other tests too.
    world.bank.proceed.mockImplementation(async (_call, held) => ({ ...decoupled, pending: held }));
    const asked = () =>
      world.bank.proceed.mock.calls.filter(([, held]) => held.institutionConsentId === 'swept').length;
    await sweep();
    expect(asked()).toBe(0);
    inMinutes(2);
    await sweep();
    expect(asked()).toBe(1);
    await sweep();
    expect(asked()).toBe(1);
    inMinutes(600);
    await sweep();
    inMinutes(10);
    await sweep();
    expect(asked()).toBe(2);
    inMinutes(900);
    await sweep();
    expect((await get(id)).status).toBe('EXPIRED');
  });
});
