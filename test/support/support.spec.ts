import { Controller, Get, Injectable, Query, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { envelope, linksOf, type PageQuery, paginationOf, problems, readOffsetPage, slicePage } from '#libs/contract';
import { ErrorShape, tracingId } from '#libs/server';
import { expectPage } from './expect-page.js';
import { expectProblem } from './expect-problem.js';
import { fake, type Served, serveController } from './serve-controller.js';

interface Stamp {
  id: number;
  date: string;
}

@Injectable()
class StampsService {
  all(): Stamp[] {
    throw new Error('Only its fake is used.');
  }
}

/** Pages as the interface says, with one mistake when `mistake` names one. */
@Controller('stamps')
class StampsController {
  constructor(private readonly stamps: StampsService) {}

  @Get() list(@Query() query: PageQuery, @Req() request: FastifyRequest) {
    return this.page(query, request, undefined);
  }
  @Get('overlapping') overlapping(@Query() query: PageQuery, @Req() request: FastifyRequest) {
    return this.page(query, request, 'overlap');
  }
  @Get('unsorted') unsorted(@Query() query: PageQuery, @Req() request: FastifyRequest) {
    return this.page(query, request, 'unsorted');
  }
  @ErrorShape('numeric') @Get('missing') missing() {
    throw problems.notFound();
  }

  private page(query: PageQuery, request: FastifyRequest, mistake: 'overlap' | 'unsorted' | undefined) {
    const page = readOffsetPage(query);
    const oldestFirst = this.stamps.all().filter(({ date }) => {
      const at = new Date(date);
      return (!page.from || at >= page.from) && (!page.before || at <= page.before);
    });
    const rows = page.sort === 'date' || mistake === 'unsorted' ? oldestFirst : oldestFirst.toReversed();
    const shown = slicePage(rows, {
      ...page,
      offset: mistake === 'overlap' ? Math.max(0, page.offset - 1) : page.offset,
    });
    const meta = { tracingId: tracingId(), pagination: paginationOf(page, rows.length) };
    return envelope(shown, meta, linksOf(`http://${request.host}/stamps`, page));
  }
}

let served: Served;
const stamps = Array.from({ length: 7 }, (_, id): Stamp => ({
  id,
  date: new Date(Date.UTC(2026, 0, 1 + id)).toISOString(),
}));
const dateOf = (record: unknown) => (record as Stamp).date;

beforeAll(async () => {
  served = await serveController(StampsController, [fake(StampsService, { all: () => stamps })]);
});
afterAll(() => served.close());

const list = (path: string) => (query: Record<string, string>) =>
  served.ask('GET', `${path}?${new URLSearchParams(query).toString()}`);

describe('expectPage', () => {
  it('passes a list that keeps the rules', async () => {
    await expectPage(list('/stamps'), { total: 7, dateOf });
  });

  it('fails a list that shows a record twice, sorts wrongly or counts wrongly', async () => {
    await expect(expectPage(list('/stamps/overlapping'), { total: 7, dateOf })).rejects.toThrow('to have a length of');
    await expect(expectPage(list('/stamps/unsorted'), { total: 7, dateOf })).rejects.toThrow('to deeply equal');
    await expect(expectPage(list('/stamps'), { total: 8 })).rejects.toThrow('to have a length of 8');
  });
});

describe('expectProblem', () => {
  it('passes the problem itself: thrown, or answered in its shape', async () => {
    await expectProblem(Promise.reject(problems.conflict()), problems.conflict());
    await expectProblem(served.ask('GET', '/stamps/missing'), problems.notFound(), { shape: 'numeric' });
    await expectProblem(fetch(`${served.url}/stamps?limit=0`), problems.unexpectedValue({ parameter: 'limit' }));
  });

  it('fails another problem, another parameter, another shape, and no problem at all', async () => {
    const wrong = [
      expectProblem(Promise.reject(problems.conflict()), problems.notFound()),
      expectProblem(served.ask('GET', '/stamps?limit=0'), problems.unexpectedValue({ parameter: 'offset' })),
      expectProblem(served.ask('GET', '/stamps/missing'), problems.notFound()),
      expectProblem(served.ask('GET', '/stamps'), problems.notFound()),
      expectProblem(Promise.resolve(5), problems.notFound()),
    ];
    for (const result of await Promise.allSettled(wrong)) expect(result.status).toBe('rejected');
  });
});
