import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApplicationUser, problems, UserDeleteResponse } from '#libs/contract';
import { TestAggregator } from '../../../../test/support/aggregator.js';
import { expectProblem } from '../../../../test/support/expect-problem.js';
import { expectShape } from '../../../../test/support/expect-shape.js';
import type { IssuedKey } from '../applications/application-keys.service.js';
import { Tenant } from '../auth/tenant.js';
import { UsersService } from './users.service.js';

let aggregator: TestAggregator;
let root: IssuedKey;

beforeAll(async () => {
  aggregator = await TestAggregator.start();
  root = await aggregator.application('Root');
});
afterAll(() => aggregator.close());

const create = (body: object, as = root) => aggregator.ask<ApplicationUser>('POST /users', { as, body });

describe('users', () => {
  it('are answered without an envelope', async () => {
    const { status, body } = await create({ applicationUserId: 'ann', referenceId: 'r-1' });
    expect(status).toBe(201);
    expectShape(ApplicationUser, body);
    expect(body).toEqual({
      uuid: expect.stringMatching(/^[0-9a-f-]{36}$/),
      applicationUuid: root.id,
      applicationUserId: 'ann',
      referenceId: 'r-1',
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      institutionConsents: [],
      vopOptOut: false,
    });
    expect((await aggregator.ask<ApplicationUser>(`GET /users/${body.uuid}`, { as: root })).body).toEqual(body);
  });

  it('need no member at all', async () => {
    const { status, body } = await create({});
    expect(status).toBe(201);
    expect(Object.keys(body).toSorted()).toEqual(
      ['applicationUuid', 'createdAt', 'institutionConsents', 'uuid', 'vopOptOut'].toSorted(),
    );
  });

  it('have an applicationUserId that is unique in its application, and in no other', async () => {
    await create({ applicationUserId: 'bob' });
    await expectProblem(create({ applicationUserId: 'bob' }), problems.conflict({ parameter: '$.applicationUserId' }), {
      shape: 'minimal',
    });
    const shop = await aggregator.application('Shop', root);
    expect((await create({ applicationUserId: 'bob' }, shop)).status).toBe(201);
  });

  it('are listed oldest first and found by applicationUserId', async () => {
    const owner = await aggregator.application('Owner');
    for (const applicationUserId of ['x', 'y', 'z']) await create({ applicationUserId }, owner);
    const list = async (query: string) =>
      (await aggregator.ask<ApplicationUser[]>(`GET /users${query}`, { as: owner })).body.map(
        (user) => user.applicationUserId,
      );
    expect(await list('')).toEqual(['x', 'y', 'z']);
    expect(await list('?filter[applicationUserId]=z&filter[applicationUserId]=x')).toEqual(['x', 'z']);
    expect(await list('?filter%5BapplicationUserId%5D=y,none')).toEqual(['y']);
  });

  it.each([
    [{ applicationUserId: 1 }, '$.applicationUserId'],
    [{ applicationUserId: '' }, '$.applicationUserId'],
    [{ applicationUserId: 'a\u0001' }, '$.applicationUserId'],
    [{ referenceId: 'a'.repeat(300) }, '$.referenceId'],
    [{ vopOptOut: 'yes' }, '$.vopOptOut'],
  ])('refuse %j, naming the member', async (body, parameter) => {
    await expectProblem(create(body), problems.unexpectedValue({ parameter }), { shape: 'minimal' });
  });

  it('refuse a NUL character wherever it stands', async () => {
    const body = { applicationUserId: 'a\u0000' };
    const parameter = '$.applicationUserId';
    await expectProblem(create(body), problems.unexpectedValue({ parameter }), { shape: 'minimal' });
    await expectProblem(
      aggregator.ask('GET /users?filter[applicationUserId]=a%00b', { as: root }),
      problems.badRequest(),
    );
  });

  it.each(['{', '[]', 'null', '"a"'])('refuse the body %s', async (body) => {
    expect((await aggregator.ask('POST /users', { as: root, body })).status).toBe(400);
  });

  it('are 404 when unknown and 400 when the id is no UUID', async () => {
    await expectProblem(
      aggregator.ask(`GET /users/${randomUUID()}`, { as: root }),
      problems.notFound({ parameter: 'userUuid' }),
    );
    await expectProblem(
      aggregator.ask('GET /users/1', { as: root }),
      problems.unexpectedValue({ parameter: 'userUuid' }),
    );
  });
});

describe('PATCH /users/{userUuid}', () => {
  const patch = (uuid: string, body: object, type = 'application/json-patch+json') =>
    aggregator.ask<ApplicationUser>(`PATCH /users/${uuid}`, { as: root, body, headers: { 'content-type': type } });

  it('changes what it names and answers 201 with the user', async () => {
    const { body } = await create({ applicationUserId: 'carol' });
    const changes = [
      { op: 'replace', path: '/applicationUserId', value: 'caroline' },
      { op: 'add', path: '/vopOptOut', value: 'true' },
    ];
    const { status, body: user } = await patch(body.uuid, changes);
    expect(status).toBe(201);
    expect(user).toEqual({ ...body, applicationUserId: 'caroline', vopOptOut: true });
  });

  it('refuses a reference that is taken and leaves the user as it was', async () => {
    await create({ applicationUserId: 'dave' });
    const { body } = await create({ applicationUserId: 'dora' });
    const changes = [
      { path: '/referenceId', value: 'new' },
      { path: '/applicationUserId', value: 'dave' },
    ];
    await expectProblem(patch(body.uuid, changes), problems.conflict({ parameter: '$.applicationUserId' }));
    expect((await aggregator.ask<ApplicationUser>(`GET /users/${body.uuid}`, { as: root })).body).toEqual(body);
  });

  it('refuses a path it does not know, naming the operation', async () => {
    const { body } = await create({});
    await expectProblem(
      patch(body.uuid, [{ op: 'replace', path: '/uuid', value: 'a' }]),
      problems.unexpectedValue({ parameter: '$[0].path' }),
    );
  });

  it('refuses a body of another kind with 415', async () => {
    const { body } = await create({});
    expect((await patch(body.uuid, [], 'application/xml')).status).toBe(415);
  });
});

describe('DELETE /users/{userUuid}', () => {
  it('answers what was deleted, once', async () => {
    const { body } = await create({});
    const deleted = await aggregator.ask<{ data: object; meta: object }>(`DELETE /users/${body.uuid}`, { as: root });
    expect(deleted.status).toBe(200);
    expectShape(UserDeleteResponse, deleted.body.data);
    expect(deleted.body.data).toEqual({
      id: body.uuid,
      deleteStatus: 'SUCCESS',
      creationDate: body.createdAt,
      userConsents: [],
    });
    expect((await aggregator.ask(`DELETE /users/${body.uuid}`, { as: root })).status).toBe(404);
  });
});

describe('the user of an authorisation', () => {
  const tenant = () => {
    const application = { id: root.id, name: 'Root', callbackUrls: [], isContractPresent: false };
    return new Tenant(application, application, [root.id]);
  };
  const users = () => aggregator.get(UsersService);

  it('is made once when two calls bring the same new reference at once', async () => {
    const resolved = await Promise.all(
      Array.from({ length: 8 }, () => users().resolve(tenant(), { applicationUserId: 'twins' })),
    );
    expect(new Set(resolved.map(({ id }) => id)).size).toBe(1);
  });

  it('must be the same under both of its names', async () => {
    const { body } = await create({ applicationUserId: 'erin' });
    const both = { userUuid: body.uuid, applicationUserId: 'erin' };
    expect((await users().resolve(tenant(), both)).id).toBe(body.uuid);
    await expectProblem(
      users().resolve(tenant(), { ...both, applicationUserId: 'other' }),
      problems.unexpectedValue({ parameter: '$.applicationUserId' }),
    );
    await expectProblem(
      users().resolve(tenant(), { userUuid: randomUUID() }),
      problems.notFound({ parameter: 'userUuid' }),
    );
    await expectProblem(users().resolve(tenant(), {}), problems.unexpectedValue({ parameter: '$.applicationUserId' }));
  });
});
