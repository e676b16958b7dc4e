import { applyDecorators } from '@nestjs/common';
import { ApiQuery } from '@nestjs/swagger';
import { linksOf, paginationOf, type OffsetPage, type PageParameter } from '#libs/contract';
import { tracingId } from '#libs/server';
import type { Rows } from './snapshots.service.js';

/**
 * The answer to a page. Its rows are wire text already and are spliced in: parsing them to print them again costs four
 * times as much.
 */
export function pageText(
  { rows, total }: Rows,
  page: OffsetPage,
  { url, parameters }: { url: string; parameters: readonly PageParameter[] },
): string {
  const meta = { tracingId: tracingId(), count: rows.length, pagination: paginationOf(page, total) };
  const links = linksOf(url, page, parameters);
  return `{"meta":${JSON.stringify(meta)},"data":[${rows.join(',')}],"links":${JSON.stringify(links)}}`;
}

/** Documents the query of a list that is paged by offset. */
export function ApiOffsetQuery(): MethodDecorator {
  return applyDecorators(
    ApiQuery({ name: 'from', required: false, schema: { type: 'string', format: 'date-time' } }),
    ApiQuery({ name: 'before', required: false, schema: { type: 'string', format: 'date-time' } }),
    ApiQuery({ name: 'limit', required: false, schema: { type: 'integer', minimum: 1, maximum: 1000, default: 1000 } }),
    ApiQuery({ name: 'sort', required: false, schema: { type: 'string', enum: ['date', '-date'], default: '-date' } }),
    ApiQuery({ name: 'offset', required: false, schema: { type: 'integer', minimum: 0, default: 0 } }),
  );
}
