import {
  Body,
  Controller,
  Delete,
  ForbiddenException,
  Get,
  HttpCode,
  Module,
  Param,
  Patch,
  Post,
  Query,
  Req,
} from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { setTimeout as tick } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Integer, Nested, problems, Text } from '#libs/contract';
import { ErrorShape } from './error-shape.js';
import { createProblemDetailsWriter, createProblemWriter } from './exception.filter.js';
import { type Running, bootstrap } from './bootstrap.js';
import { createLogger } from './logger.js';
import { currentTracingId } from './tracing.js';
import { createValidationPipe } from './validation.pipe.js';

class Owner {
  @Text() name!: string;
}
class Parcel {
  @Text() label!: string;
  @Integer({ min: 1 }) weight!: number;
  @Nested(() => Owner, { array: true }) owners!: Owner[];
}
class Window {
  @Integer({ query: true, optional: true, min: 1, max: 1000 }) limit?: number;
}

const sent = Symbol('not ours');

@Controller('parcels')
class ParcelsController {
  @Get() list(@Query() window: Window) {
    return { limit: window.limit ?? 'all', tracingId: currentTracingId() };
  }
  @Get('broken') broken() {
    throw new Error('the ledger at GB33BUKB20201555555555 is on fire');
  }
  @Get('thrown') thrown() {
    // eslint-disable-next-line no-throw-literal
    throw sent;
  }
  @Get('forbidden') forbidden() {
    throw new ForbiddenException('not yours');
  }
  @Get('busy') busy() {
    throw problems.tooManyRequests({ retryAfter: 7 });
  }
  @Get('bank') bank() {
    throw problems.institutionFailed({ errorMessage: '{"bad":1}', httpStatusCode: 500 });
  }
  @Get(':id') one(@Param('id') id: string) {
    return { id };
  }
  @Post() async create(@Body() parcel: Parcel) {
    await tick(1);
    return { parcel, isParcel: parcel instanceof Parcel, tracingId: currentTracingId() };
  }
  @Patch('owners') owners(@Body(createValidationPipe({ listOf: Owner })) owners: Owner[]) {
    return owners;
  }
  @Delete(':id') @HttpCode(200) remove(@Body() body: unknown) {
    return { body: body ?? 'none' };
  }
  @Post('raw') raw(@Req() request: FastifyRequest) {
    return { bytes: request.rawBody?.toString('hex'), isBuffer: Buffer.isBuffer(request.body) };
  }
  @Post('small') small() {
    return {};
  }
}

@ErrorShape('field-list')
@Controller('fields')
class FieldsController {
  @Post() create(@Body() parcel: Parcel) {
    return parcel;
  }
  @ErrorShape('numeric') @Post('numeric') numeric(@Body() parcel: Parcel) {
    return parcel;
  }
}

@ErrorShape('minimal')
@Controller('minimal')
class MinimalController {
  @Get() get() {
    throw problems.credentialsMissing();
  }
}

@Module({ controllers: [ParcelsController, FieldsController, MinimalController] })
class AppModule {}

const lines: string[] = [];
const logger = createLogger('test', { write: (line) => void lines.push(line) }, 'info');
const logged = () => lines.map((line): Record<string, unknown> => JSON.parse(line));

let running: Running;
let details: Running;
const json = { 'content-type': 'application/json' };
const good = { label: 'books', weight: 2, owners: [{ name: 'Ada' }] };

async function call(path: string, init: RequestInit = {}, base = running.url) {
  const response = await fetch(`${base}${path}`, init);
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, body: text ? JSON.parse(text) : undefined };
}
const post = (path: string, body: unknown, headers: Record<string, string> = json) =>
  call(path, { method: 'POST', headers, body: typeof body === 'string' ? body : JSON.stringify(body) });

beforeAll(async () => {
  const common = { port: 0, host: '127.0.0.1', signals: false, logger };
  running = await bootstrap(AppModule, {
    ...common,
    name: 'test',
    bodyLimits: { '/parcels/small': 10 },
    rawBodyRoutes: ['/parcels/raw'],
    docs: { title: 'Parcels', version: '1', security: ['basic'] },
    readiness: () => ({
      ledger: async () => (lines.length >= 0 ? true : Promise.reject(new Error('no'))),
      queue: async () => Promise.reject(new Error('down')),
    }),
    errors: (log) => createProblemWriter({ logger: log, source: 'TRIBUTARY' }),
  });
  details = await bootstrap(AppModule, {
    ...common,
    name: 'details',
    errors: (log) => createProblemDetailsWriter({ logger: log }),
  });
});
afterAll(async () => {
  await running.close();
  await details.close();
});

describe('a request', () => {
  it('is answered in the exact content type of the interface, never cached', async () => {
    const { headers } = await call('/parcels');
    expect(headers.get('content-type')).toBe('application/json;charset=UTF-8');
    expect(headers.get('cache-control')).toBe('no-store');
  });

  it('keeps the tracing id of its caller, in our form, through reading the body and waiting', async () => {
    const id = '0af76519-16cd-43dd-8448-eb211c80319c';
    const { headers, body } = await post('/parcels', good, { ...json, 'x-tracing-id': id });
    expect(headers.get('x-tracing-id')).toBe(id.replaceAll('-', ''));
    expect(body.tracingId).toBe(id.replaceAll('-', ''));
  });

  it('gets a tracing id of 32 hexadecimal characters when its own is not one', async () => {
    const { headers, body } = await call('/parcels', { headers: { 'x-tracing-id': 'x"}injected' } });
    expect(headers.get('x-tracing-id')).toMatch(/^[0-9a-f]{32}$/);
    expect(body.tracingId).toBe(headers.get('x-tracing-id'));
  });

  it('leaves one access line, without its query', async () => {
    const { headers } = await call('/parcels?limit=5');
    const own = await untilLogged(headers.get('x-tracing-id'));
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
    const patched = await call('/parcels/owners', {
      method: 'PATCH',
      headers: { 'content-type': 'application/json-patch+json' },
      body: '[{"name":"Ada"}]',
    });
    expect(patched).toMatchObject({ status: 200, body: [{ name: 'Ada' }] });
    const removed = await call('/parcels/1', { method: 'DELETE', headers: json });
    expect(removed.body).toEqual({ body: 'none' });
  });

  it('keeps its bytes unparsed on the routes that ask for them', async () => {
    const { body } = await post('/parcels/raw', '{"a": 1 ');
    expect(body).toEqual({ bytes: Buffer.from('{"a": 1 ').toString('hex'), isBuffer: true });
  });
});

async function untilLogged(tracingId: string | null): Promise<Record<string, unknown>[]> {
  const deadline = performance.now() + 2000;
  while (performance.now() < deadline) {
    const own = logged().filter((line) => line.tracingId === tracingId);
    if (own.some((line) => line.msg === 'request')) return own;
    await tick(5);
  }
  throw new Error('no access line came');
}

describe('a body', () => {
  it('becomes an instance of its class, without unknown members', async () => {
    const { body } = await post('/parcels', { ...good, admin: true });
    expect(body).toMatchObject({ isParcel: true, parcel: good });
    expect(body.parcel).not.toHaveProperty('admin');
  });

  it('is refused with every fault at once, each by its JSONPath', async () => {
    const { status, body } = await post('/parcels', { label: 'x', weight: '3', owners: [{ name: 'Ada' }, {}] });
    expect(status).toBe(400);
    expect(body.error).toMatchObject({ code: 400, status: 'BAD_REQUEST', source: 'TRIBUTARY' });
    expect(body.error.issues.map((issue: { parameter: string }) => issue.parameter)).toEqual([
      '$.weight',
      '$.owners[1].name',
    ]);
  });

  it('is refused when it is missing, no object, unparseable or poisoned', async () => {
    for (const sentBody of ['', 'null', '[]', '"x"', '{"a":', '{"__proto__":{"x":1}}']) {
      const { status, body } = await post('/parcels', sentBody);
      expect([sentBody, status, body.error.issues[0].type]).toEqual([sentBody, 400, 'BAD_REQUEST']);
    }
  });

  it('is refused by item when it is a list', async () => {
    const { status, body } = await call('/parcels/owners', {
      method: 'PATCH',
      headers: json,
      body: '[{"name":"Ada"},{"name":5}]',
    });
    expect(status).toBe(400);
    expect(body.error.issues[0].parameter).toBe('$[1].name');
  });

  it('is refused as too large or of another type before it is read', async () => {
    expect((await post('/parcels/small', good)).body.error).toMatchObject({ code: 413, status: 'PAYLOAD_TOO_LARGE' });
    expect((await post('/parcels', 'x'.repeat(1024 * 1024 + 1))).status).toBe(413);
    const other = await post('/parcels', '<a/>', { 'content-type': 'application/xml' });
    expect(other.body.error).toMatchObject({ code: 415, status: 'UNSUPPORTED_MEDIA_TYPE' });
  });

  it('is refused in the shape of its controller, and a method may have its own', async () => {
    const { owners: _owners, ...incomplete } = good;
    expect((await post('/fields', incomplete)).body).toEqual({ errors: [{ fieldName: 'owners', error: 'MANDATORY' }] });
    const numeric = await post('/fields/numeric', '{"a":');
    expect(numeric.body.error.issues[0]).toMatchObject({ type: 'BAD_REQUEST', code: 10600 });
  });
});

describe('an address', () => {
  it('has its query checked by name', async () => {
    expect((await call('/parcels?limit=12')).body.limit).toBe(12);
    const { status, body } = await call('/parcels?limit=1001');
    expect([status, body.error.issues[0].parameter]).toEqual([400, 'limit']);
  });

  it('is 404 in the standard shape when unknown, without being repeated', async () => {
    const { status, body, text } = await call('/nowhere?iban=GB33BUKB20201555555555');
    expect([status, body.error.status]).toEqual([404, 'NOT_FOUND']);
    expect(text).not.toContain('nowhere');
  });

  it('is 405 and names its methods when asked with another', async () => {
    const { status, headers, body } = await call('/parcels/5', { method: 'PUT', headers: json, body: '{}' });
    expect([status, body.error.status]).toEqual([405, 'METHOD_NOT_ALLOWED']);
    expect(headers.get('allow')).toBe('DELETE, GET, HEAD');
  });

  it('is 400 when it cannot be decoded', async () => {
    const { status, body } = await call('/parcels/%E0%A4%A');
    expect([status, body.error.code]).toEqual([400, 400]);
  });
});

describe('a refusal', () => {
  it('keeps its headers, its shape and its tracing id', async () => {
    const busy = await call('/parcels/busy');
    expect([busy.status, busy.headers.get('retry-after')]).toEqual([429, '7']);
    expect(busy.body.error.tracingId).toBe(busy.headers.get('x-tracing-id'));
    const minimal = await call('/minimal');
    expect(minimal.headers.get('www-authenticate')).toContain('Basic');
    expect(Object.keys(minimal.body.error)).toEqual(['code', 'status', 'message']);
    const bank = await call('/parcels/bank');
    expect(bank.body.error).toMatchObject({
      code: 424,
      source: 'INSTITUTION',
      institutionError: { httpStatusCode: 500 },
    });
    expect((await call('/parcels/forbidden')).body.error).toMatchObject({ code: 403, message: 'not yours' });
  });

  it('tells nothing of our own faults, and logs them once with their stack', async () => {
    for (const path of ['/parcels/broken', '/parcels/thrown']) {
      const { status, text, headers } = await call(path);
      expect(status).toBe(500);
      expect(text).not.toContain('fire');
      const errors = (await untilLogged(headers.get('x-tracing-id'))).filter((line) => line.level === 'error');
      expect(errors).toHaveLength(1);
      expect(JSON.stringify(errors)).toContain('stack');
      expect(JSON.stringify(errors)).not.toContain('GB33');
    }
  });

  it('can be problem details, with pointers into the body', async () => {
    const { status, headers, body } = await call(
      '/parcels',
      { method: 'POST', headers: json, body: JSON.stringify({ ...good, owners: [{}] }) },
      details.url,
    );
    expect([status, headers.get('content-type')]).toEqual([400, 'application/problem+json']);
    expect(body).toMatchObject({ type: 'about:blank', title: 'Bad request', status: 400, instance: '/parcels' });
    expect(body.issues[0]).toMatchObject({ pointer: '/owners/0/name' });
    const query = await call('/parcels?limit=0', {}, details.url);
    expect(query.body.issues[0]).toMatchObject({ parameter: 'limit' });
    expect((await call('/minimal', {}, details.url)).headers.get('www-authenticate')).toBeNull();
  });
});

describe('a program', () => {
  it('says that it serves, and separately whether it is ready', async () => {
    expect((await call('/health')).body).toEqual({ status: 'ok' });
    expect(await call('/ready')).toMatchObject({ status: 503, body: { status: 'failing', failing: ['queue'] } });
    expect((await call('/ready', {}, details.url)).status).toBe(200);
  });

  it('measures requests by template, and itself', async () => {
    await call('/parcels/secret-id');
    const response = await fetch(`${running.url}/metrics`);
    const text = await response.text();
    expect(text).toMatch(/http_request_duration_seconds_count\{method="GET",route="\/parcels\/:id",status="200"\}/);
    expect(text).toContain('nodejs_eventloop_lag_seconds');
    expect(text).not.toContain('secret-id');
  });

  it('describes itself at /docs', async () => {
    const { body } = await call('/docs-json');
    expect(body.paths['/parcels'].post.operationId).toBe('create');
    expect(body.components.schemas.Parcel.properties.owners.items.$ref).toContain('Owner');
    const page = await fetch(`${running.url}/docs`);
    expect([page.status, (await page.text()).includes('swagger-ui')]).toEqual([200, true]);
    const sheet = await fetch(`${running.url}/docs/swagger-ui.css`);
    expect([sheet.status, (await sheet.text()).length > 1000]).toEqual([200, true]);
  });
});
