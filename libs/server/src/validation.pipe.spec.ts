import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { call, good, json, type Parcels, post, serveParcels } from './parcels.fixture.js';

let parcels: Parcels;
const ask = (path: string, init: RequestInit = {}, url = parcels.running.url) => call(`${url}${path}`, init);
const send = (path: string, body: unknown, headers: Record<string, string> = json) =>
  post(`${parcels.running.url}${path}`, body, headers);

beforeAll(async () => {
  parcels = await serveParcels();
});
afterAll(async () => {
  await parcels.running.close();
  await parcels.details.close();
});

describe('a body', () => {
  it('becomes an instance of its class, without unknown members', async () => {
    const { body } = await send('/parcels', { ...good, admin: true });
    expect(body).toMatchObject({ isParcel: true, parcel: good });
    expect(body.parcel).not.toHaveProperty('admin');
  });

  it('is refused with every fault at once, each by its JSONPath', async () => {
    const { status, body } = await send('/parcels', { label: 'x', weight: '3', owners: [{ name: 'Ada' }, {}] });
    expect(status).toBe(400);
    expect(body.error).toMatchObject({ code: 400, status: 'BAD_REQUEST', source: 'TRIBUTARY' });
    expect(body.error.issues.map((issue: { parameter: string }) => issue.parameter)).toEqual([
      '$.weight',
      '$.owners[1].name',
    ]);
  });

  it('is refused when it is missing, no object, unparseable or poisoned', async () => {
    for (const sentBody of ['', 'null', '[]', '"x"', '{"a":', '{"__proto__":{"x":1}}']) {
      const { status, body } = await send('/parcels', sentBody);
      expect([sentBody, status, body.error.issues[0].type]).toEqual([sentBody, 400, 'BAD_REQUEST']);
    }
  });

  it('is refused by item when it is a list', async () => {
    const { status, body } = await ask('/parcels/owners', {
      method: 'PATCH',
      headers: json,
      body: '[{"name":"Ada"},{"name":5}]',
    });
    expect(status).toBe(400);
    expect(body.error.issues[0].parameter).toBe('$[1].name');
  });

  it('is refused as too large or of another type before it is read', async () => {
    expect((await send('/parcels/small', good)).body.error).toMatchObject({ code: 413, status: 'PAYLOAD_TOO_LARGE' });
    expect((await send('/parcels', 'x'.repeat(1024 * 1024 + 1))).status).toBe(413);
    for (const type of ['application/xml', 'text/plain', 'text/csv', 'application/x-www-form-urlencoded']) {
      const other = await send('/parcels', '<a/>', { 'content-type': type });
      expect(other.body.error).toMatchObject({ code: 415, status: 'UNSUPPORTED_MEDIA_TYPE' });
    }
  });

  it.each([{ 'content-length': String(8 * 1024 * 1024) }, {}])(
    'is refused so that a client which first writes all of it learns why (%j)',
    async (length) => {
      const headers = { ...json, ...length };
      const asked = request(`${parcels.running.url}/parcels`, { method: 'POST', headers });
      asked.end(Buffer.alloc(8 * 1024 * 1024, 'x'));
      const [[answer]] = await Promise.all([
        once(asked, 'response') as Promise<[IncomingMessage]>,
        once(asked, 'finish'),
      ]);
      answer.resume();
      expect(answer.statusCode).toBe(413);
    },
  );

  it('is refused in the shape of its controller, and a method may have its own', async () => {
    const { owners: _owners, ...incomplete } = good;
    expect((await send('/fields', incomplete)).body).toEqual({ errors: [{ fieldName: 'owners', error: 'MANDATORY' }] });
    const numeric = await send('/fields/numeric', '{"a":');
    expect(numeric.body.error.issues[0]).toMatchObject({ type: 'BAD_REQUEST', code: 10600 });
  });

  it('is refused when it is nested without end, in a member that nobody declared too', async () => {
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    for (const text of [`{"x":${deep}}`, `{"owners":${deep}}`, deep]) {
      expect((await send('/parcels', text)).status).toBe(400);
    }
    const label = `${'[{'.repeat(1000)} "quoted" \\`;
    expect((await send('/parcels', { ...good, label })).body.parcel.label).toBe(label);
  });

  it('is refused when its bytes are no UTF-8: what they meant is not guessed', async () => {
    const whole = JSON.stringify({ ...good, label: 'caf\u00e9' });
    const statusOf = async (encoding: 'utf8' | 'latin1'): Promise<number> => {
      const body = Buffer.from(whole, encoding);
      return (await fetch(`${parcels.running.url}/parcels`, { method: 'POST', headers: json, body })).status;
    };
    expect(await statusOf('utf8')).toBe(201);
    expect(await statusOf('latin1')).toBe(400);
  });

  it('is refused, like a query or a path, when a text cannot be stored', async () => {
    const owners = [{ name: 'Ada' }, { name: 'A\u0000da' }];
    const { status, body } = await send('/parcels', { ...good, owners, label: '\ud800' });
    expect(status).toBe(400);
    expect(body.error.issues.map(({ parameter }: { parameter: string }) => parameter)).toEqual([
      '$.label',
      '$.owners[1].name',
    ]);
    for (const path of ['/parcels/a%00b', '/parcels?limit=%00']) expect((await ask(path)).status).toBe(400);
  });
});
