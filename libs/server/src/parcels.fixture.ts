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
import { Integer, Nested, problems, Text } from '#libs/contract';
import { type Running, bootstrap } from './bootstrap.js';
import { ErrorShape } from './error-shape.js';
import { createProblemDetailsWriter, createProblemWriter } from './exception.filter.js';
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

export interface Parcels {
  /** The interface's shapes on the one, problem details on the other. */
  running: Running;
  details: Running;
  logged: () => Record<string, unknown>[];
}

/** Serves a small program over real HTTP, once with each way to write errors. */
export async function serveParcels(): Promise<Parcels> {
  const lines: string[] = [];
  const logger = createLogger('test', { write: (line) => void lines.push(line) }, 'info');
  const common = { port: 0, host: '127.0.0.1', signals: false, logger };
  const running = await bootstrap(AppModule, {
    ...common,
    name: 'test',
    bodyLimits: { '/parcels/small': 10 },
    rawBodyRoutes: ['/parcels/raw'],
    docs: { title: 'Parcels', version: '1', security: ['basic'] },
    readiness: () => ({
      ledger: () => Promise.resolve('here'),
      queue: () => Promise.reject(new Error('down')),
    }),
    errors: (log) => createProblemWriter({ logger: log, source: 'TRIBUTARY' }),
  });
  const details = await bootstrap(AppModule, {
    ...common,
    name: 'details',
    errors: (log) => createProblemDetailsWriter({ logger: log }),
  });
  return { running, details, logged: () => lines.map((line): Record<string, unknown> => JSON.parse(line)) };
}

export const json = { 'content-type': 'application/json' };
export const good = { label: 'books', weight: 2, owners: [{ name: 'Ada' }] };

/** Asks one of them and reads the answer to its end. */
export async function call(url: string, init: RequestInit = {}) {
  const response = await fetch(url, init);
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, body: text ? JSON.parse(text) : undefined };
}

/** Posts text as it is and everything else as JSON. */
export function post(url: string, body: unknown, headers: Record<string, string> = json) {
  return call(url, { method: 'POST', headers, body: typeof body === 'string' ? body : JSON.stringify(body) });
}

/** Every line about a request, once its access line is there. */
export async function untilLogged({ logged }: Parcels, tracingId: string | null): Promise<Record<string, unknown>[]> {
  const deadline = performance.now() + 2000;
  while (performance.now() < deadline) {
    const own = logged().filter((line) => line.tracingId === tracingId);
    if (own.some((line) => line.msg === 'request')) return own;
    await tick(5);
  }
  throw new Error('no access line came');
}
