import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { call, good, json, type Parcels, serveParcels, untilLogged } from './parcels.fixture.js';

let parcels: Parcels;
const ask = (path: string, init: RequestInit = {}, url = parcels.running.url) => call(`${url}${path}`, init);

beforeAll(async () => {
  parcels = await serveParcels();
});
afterAll(async () => {
  await parcels.running.close();
  await parcels.details.close();
});

describe('an address', () => {
  it('has its query checked by name', async () => {
    expect((await ask('/parcels?limit=12')).body.limit).toBe(12);
    const { status, body } = await ask('/parcels?limit=1001');
    expect([status, body.error.issues[0].parameter]).toEqual([400, 'limit']);
  });

  it('is 404 in the standard shape when unknown, without being repeated', async () => {
    const { status, body, text } = await ask('/nowhere?iban=GB33BUKB20201555555555');
    expect([status, body.error.status]).toEqual([404, 'NOT_FOUND']);
    expect(text).not.toContain('nowhere');
  });

  it('is 405 and names its methods when asked with another', async () => {
    const { status, headers, body } = await ask('/parcels/5', { method: 'PUT', headers: json, body: '{}' });
    expect([status, body.error.status]).toEqual([405, 'METHOD_NOT_ALLOWED']);
    expect(headers.get('allow')).toBe('DELETE, GET, HEAD');
  });

  it('is 404 below an address where files are served, when there is no such file', async () => {
    const { status, headers } = await ask('/docs/nothing');
    expect([status, headers.get('allow')]).toEqual([404, null]);
  });

  it('is 400 when it cannot be decoded', async () => {
    const { status, body } = await ask('/parcels/%E0%A4%A');
    expect([status, body.error.code]).toEqual([400, 400]);
  });
});

describe('a refusal', () => {
  it('keeps its headers, its shape and its tracing id', async () => {
    const busy = await ask('/parcels/busy');
    expect([busy.status, busy.headers.get('retry-after')]).toEqual([429, '7']);
    expect(busy.body.error.tracingId).toBe(busy.headers.get('x-tracing-id'));
    const minimal = await ask('/minimal');
    expect(minimal.headers.get('www-authenticate')).toContain('Basic');
    expect(Object.keys(minimal.body.error)).toEqual(['code', 'status', 'message']);
    const bank = await ask('/parcels/bank');
    expect(bank.body.error).toMatchObject({
      code: 424,
      source: 'INSTITUTION',
      institutionError: { httpStatusCode: 500 },
    });
    expect((await ask('/parcels/forbidden')).body.error).toMatchObject({
      code: 403,
      issues: [{ message: 'not yours' }],
    });
  });

  it('tells nothing of our own faults, and logs them once with their stack', async () => {
    for (const path of ['/parcels/broken', '/parcels/thrown']) {
      const { status, text, headers } = await ask(path);
      expect(status).toBe(500);
      expect(text).not.toContain('fire');
      const errors = (await untilLogged(parcels, headers.get('x-tracing-id'))).filter((line) => line.level === 'error');
      expect(errors).toHaveLength(1);
      expect(JSON.stringify(errors)).toContain('stack');
      expect(JSON.stringify(errors)).not.toContain('GB33');
    }
  });

  it('can be problem details, with pointers into the body', async () => {
    const { status, headers, body } = await ask(
      '/parcels',
      { method: 'POST', headers: json, body: JSON.stringify({ ...good, owners: [{}] }) },
      parcels.details.url,
    );
    expect([status, headers.get('content-type')]).toEqual([400, 'application/problem+json']);
    expect(body).toMatchObject({ type: 'about:blank', title: 'Bad request', status: 400, instance: '/parcels' });
    expect(body.issues[0]).toMatchObject({ pointer: '/owners/0/name' });
    const query = await ask('/parcels?limit=0', {}, parcels.details.url);
    expect(query.body.issues[0]).toMatchObject({ parameter: 'limit' });
    expect((await ask('/minimal', {}, parcels.details.url)).headers.get('www-authenticate')).toBe('Bearer');
  });
});
