import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { call, good, json, type Parcels, post, serveParcels, untilLogged } from './parcels.fixture.js';

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

describe('a request', () => {
  it('is answered in the exact content type of the interface, never cached', async () => {
    const { headers } = await ask('/parcels');
    expect(headers.get('content-type')).toBe('application/json;charset=UTF-8');
    expect(headers.get('cache-control')).toBe('no-store');
  });

  it('keeps the tracing id of its caller, in our form, through reading the body and waiting', async () => {
    const id = '0af76519-16cd-43dd-8448-eb211c80319c';
    const { headers, body } = await send('/parcels', good, { ...json, 'x-tracing-id': id });
    expect(headers.get('x-tracing-id')).toBe(id.replaceAll('-', ''));
    expect(body.tracingId).toBe(id.replaceAll('-', ''));
  });

  it('gets a tracing id of 32 hexadecimal characters when its own is not one', async () => {
    const { headers, body } = await ask('/parcels', { headers: { 'x-tracing-id': 'x"}injected' } });
    expect(headers.get('x-tracing-id')).toMatch(/^[0-9a-f]{32}$/);
    expect(body.tracingId).toBe(headers.get('x-tracing-id'));
  });

  it('leaves one access line, without its query', async () => {
    const { headers } = await ask('/parcels?limit=5');
    const own = await untilLogged(parcels, headers.get('x-tracing-id'));
    expect(own).toHaveLength(1);
    expect(own[0]).toMatchObject({
      name: 'test',
      level: 'info',
      method: 'GET',
      route: '/parcels',
      status: 200,
      msg: 'request',
    });
    expect(JSON.stringify(own)).not.toContain('limit');
  });

  it('may carry any JSON media type, or a JSON type without a body', async () => {
    const patched = await ask('/parcels/owners', {
      method: 'PATCH',
      headers: { 'content-type': 'application/json-patch+json' },
      body: '[{"name":"Ada"}]',
    });
    expect(patched).toMatchObject({ status: 200, body: [{ name: 'Ada' }] });
    const removed = await ask('/parcels/1', { method: 'DELETE', headers: json });
    expect(removed.body).toEqual({ body: 'none' });
  });

  it('keeps its bytes unparsed on the routes that ask for them', async () => {
    const { body } = await send('/parcels/raw', '{"a": 1 ');
    expect(body).toEqual({ bytes: Buffer.from('{"a": 1 ').toString('hex'), isBuffer: true });
  });
});

describe('a program', () => {
  it('says that it serves, and separately whether it is ready', async () => {
    expect((await ask('/health')).body).toEqual({ status: 'ok' });
    expect(await ask('/ready')).toMatchObject({ status: 503, body: { status: 'failing', failing: ['queue'] } });
    expect((await ask('/ready', {}, parcels.details.url)).status).toBe(200);
  });

  it('measures requests by template, and itself', async () => {
    await ask('/parcels/secret-id');
    const response = await fetch(`${parcels.running.url}/metrics`);
    const text = await response.text();
    expect(text).toMatch(/http_request_duration_seconds_count\{method="GET",route="\/parcels\/:id",status="200"\}/);
    expect(text).toContain('nodejs_eventloop_lag_seconds');
    expect(text).not.toContain('secret-id');
  });

  it('describes itself at /docs', async () => {
    const { body } = await ask('/docs-json');
    expect(body.paths['/parcels'].post.operationId).toBe('create');
    expect(body.components.schemas.Parcel.properties.owners.items.$ref).toContain('Owner');
    const page = await fetch(`${parcels.running.url}/docs`);
    expect([page.status, (await page.text()).includes('swagger-ui')]).toEqual([200, true]);
    const sheet = await fetch(`${parcels.running.url}/docs/swagger-ui.css`);
    expect([sheet.status, (await sheet.text()).length > 1000]).toEqual([200, true]);
  });
});
