import { describe, expect, it } from 'vitest';
import { problems, type Consent, type ConsentDeleteResponse, type Envelope } from '#libs/contract';
import { InstitutionError } from '#libs/connectors';
import { now, setClock } from '#libs/server';
import {
  applicationWithCallback,
  domesticPayment,
  grantedAccount,
  grantedPayment,
} from '../../../../test/support/authorise.js';
import { expectProblem } from '../../../../test/support/expect-problem.js';
import { scriptedInstitution } from '../../../../test/support/scripted-connector.js';
import { ConsentSweep } from './consent-sweep.service.js';
import { scriptedShop } from '../../../../test/support/scripted-shop.js';

const world = scriptedShop();

const list = (query = '', as = world.shop) =>
  world.aggregator.ask<Envelope<Consent[]>>(`GET /consents${query}`, { as });
const idsOf = async (query = '', as = world.shop) => (await list(query, as)).body.data.map(({ id }) => id);
const get = (id: string, as = world.shop) => world.aggregator.ask<Envelope<Consent>>(`GET /consents/${id}`, { as });
const remove = (id: string, query = '') =>
  world.aggregator.ask<Envelope<ConsentDeleteResponse>>(`DELETE /consents/${id}${query}`, { as: world.shop });
const grant = (request: object = {}) => grantedAccount(world.aggregator, world.shop, request);
const shape = { shape: 'minimal' } as const;
const later = (ms: number) => {
  const at = new Date(now().getTime() + ms);
  setClock(() => at);
};

describe('GET /consents', () => {
  it('lists the newest first, page by page', async () => {
    const ids: string[] = [];
    for (const applicationUserId of ['a', 'b', 'c', 'd']) ids.unshift((await grant({ applicationUserId })).id);
    expect(await idsOf()).toEqual(ids);
    const page = await list('?limit=2&offset=1');
    expect(page.body.data.map(({ id }) => id)).toEqual(ids.slice(1, 3));
    expect(page.body.meta).toMatchObject({
      count: 2,
      pagination: { totalCount: 4, self: { limit: 2, offset: 1, sort: '-date' } },
    });
    expect(page.body.links?.['self']).toMatch(/\/consents\?from&before&limit=2&sort=-date&offset=1$/);
    expect(await idsOf('?offset=9')).toEqual([]);
  });

  it('is filtered by user, institution, status and time', async () => {
    const ann = await grant({ applicationUserId: 'ann' });
    const bob = await grant({ applicationUserId: 'bob' });
    const { userUuid, createdAt } = (await get(ann.id)).body.data;
    expect(await idsOf('?filter[applicationUserId]=ann')).toEqual([ann.id]);
    expect(await idsOf('?filter[applicationUserId]=ann&filter[applicationUserId]=bob')).toEqual([bob.id, ann.id]);
    expect(await idsOf(`?filter%5BuserUuid%5D=${userUuid}`)).toEqual([ann.id]);
    expect(await idsOf('?filter[institution]=nowhere')).toEqual([]);
    expect(await idsOf(`?filter[institution]=${scriptedInstitution.id},nowhere`)).toEqual([bob.id, ann.id]);
    expect(await idsOf('?filter[status]=EXPIRED')).toEqual([]);
    expect(await idsOf('?filter[status]=AUTHORIZED,EXPIRED')).toEqual([bob.id, ann.id]);
    expect(await idsOf(`?from=${createdAt}&before=${createdAt}`)).toEqual([ann.id]);
  });

  it.each([
    ['limit=0', 'limit'],
    ['limit=1001', 'limit'],
    ['offset=-1', 'offset'],
    ['offset=9999999999', 'offset'],
    ['from=yesterday', 'from'],
    ['filter[status]=HAPPY', 'filter[status]'],
    ['filter[userUuid]=x', 'filter[userUuid]'],
  ])('refuses %s by name', async (query, parameter) => {
    await expectProblem(list(`?${query}`), problems.unexpectedValue({ parameter }), shape);
  });

  it('shows a root the consents of its sub-applications, and nobody those of others', async () => {
    const sub = await applicationWithCallback(world.aggregator, world.shop.id);
    const { id } = await grantedAccount(world.aggregator, sub);
    expect(await idsOf('', world.shop)).toEqual([id]);
    expect(await idsOf('', sub)).toEqual([id]);
    const other = await applicationWithCallback(world.aggregator);
    expect(await idsOf('', other)).toEqual([]);
    await expectProblem(get(id, other), problems.notFound({ parameter: 'consentId' }), shape);
  });
});

describe('DELETE /consents/{consentId}', () => {
  it('ends the consent at the bank and here, for good', async () => {
    const { id, token } = await grant();
    const { status, body } = await remove(id);
    expect(status).toBe(200);
    expect(body.data).toEqual({
      id,
      deleteStatus: 'SUCCESS',
      institutionId: scriptedInstitution.id,
      institutionConsentId: 'aac-1',
      creationDate: expect.any(String),
    });
    expect(world.bank.revoke).toHaveBeenCalledTimes(1);
    await expectProblem(get(id), problems.notFound({ parameter: 'consentId' }), shape);
    await expectProblem(remove(id), problems.notFound({ parameter: 'consentId' }), shape);
    const data = world.aggregator.ask('GET /accounts', { as: world.shop, headers: { consent: token } });
    await expectProblem(data, problems.consentUnknown({ parameter: 'consent' }), shape);
  });

  it('keeps the consent when the bank refuses and deletion is not forced', async () => {
    const { id } = await grant();
    world.bank.revoke.mockRejectedValue(new InstitutionError('unavailable', 'Down'));
    expect((await remove(id, '?forceDelete=false')).body.data.deleteStatus).toBe('FAILED');
    expect((await get(id)).body.data.status).toBe('AUTHORIZED');
    expect((await remove(id, '?forceDelete=true')).body.data.deleteStatus).toBe('SUCCESS');
  });

  it('leaves a payment consent to the bank, which never takes one back', async () => {
    const { id } = await grantedPayment(world.aggregator, world.shop, domesticPayment('p1'));
    expect((await remove(id)).body.data.deleteStatus).toBe('SUCCESS');
    expect(world.bank.revoke).not.toHaveBeenCalled();
  });

  it('refuses a flag that is none', async () => {
    const { id } = await grant();
    await expectProblem(
      remove(id, '?forceDelete=maybe'),
      problems.unexpectedValue({ parameter: 'forceDelete' }),
      shape,
    );
  });
});

describe('the sweep', () => {
  const sweep = () => world.aggregator.get(ConsentSweep).run();

  it('ends consents that are past their date, and their token', async () => {
    const { id, token } = await grant({
      accountRequest: { expiresAt: new Date(now().getTime() + 3_600_000).toISOString() },
    });
    await sweep();
    expect((await get(id)).body.data.status).toBe('AUTHORIZED');
    later(3_600_000);
    const data = () => world.aggregator.ask('GET /accounts', { as: world.shop, headers: { consent: token } });
    await expectProblem(data(), problems.consentNotAuthorised({ parameter: 'consent' }), shape);
    expect(await sweep()).toBeGreaterThan(0);
    const consent = (await get(id)).body.data;
    expect(consent).toMatchObject({ status: 'EXPIRED', timeToExpire: 'PT0S' });
    expect(consent).not.toHaveProperty('consentToken');
    await expectProblem(data(), problems.consentNotAuthorised({ parameter: 'consent' }), shape);
  });

  it('need not have come for one that is looked at', async () => {
    const { id } = await grant({
      accountRequest: { expiresAt: new Date(now().getTime() + 3_600_000).toISOString() },
    });
    expect((await get(id)).body.data.status).toBe('AUTHORIZED');
    later(3_600_000);
    const looked = (await get(id)).body.data;
    expect(looked).toMatchObject({ status: 'EXPIRED', timeToExpire: 'PT0S' });
    expect(looked).not.toHaveProperty('consentToken');
  });

  it('ends requests that nobody answered within a day', async () => {
    const { body } = await world.aggregator.ask<Envelope<Consent>>('POST /account-auth-requests', {
      as: world.shop,
      body: { institutionId: scriptedInstitution.id, applicationUserId: 'ann' },
    });
    later(86_399_000);
    await sweep();
    expect((await get(body.data.id)).body.data.status).toBe('AWAITING_AUTHORIZATION');
    later(2_000);
    await sweep();
    expect((await get(body.data.id)).body.data.status).toBe('EXPIRED');
  });
});
