import { Controller, Get, Param, Query, Req } from '@nestjs/common';
import { ApiDefaultResponse, ApiOkResponse, ApiOperation, ApiQuery, ApiTags } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import {
  ApiResponseError,
  ApiSubApplicationHeader,
  Beneficiary,
  DirectDebitResponse,
  envelope,
  EnvelopeOf,
  Identity,
  linksOf,
  ListOf,
  PaymentResponse,
  readOffsetPage,
  readPsuHeaders,
  slicePage,
  type Envelope,
  type PageQuery,
} from '#libs/contract';
import { ErrorShape, tracingId } from '#libs/server';
import { CurrentConsent, NeedsConsent } from '../auth/consent.guard.js';
import { Env } from '../config.js';
import type { ConsentRow } from '../consents/consent.queries.js';
import { AccountsService } from './accounts.service.js';

type LimitQuery = Pick<PageQuery, 'limit'>;

/** Documents the query of a list that has a limit and no pages. */
const ApiLimitQuery = (): MethodDecorator =>
  ApiQuery({ name: 'limit', required: false, schema: { type: 'integer', minimum: 1, maximum: 1000, default: 1000 } });

/** What belongs to an account besides its money and movements, and who gave the consent. */
@ApiTags('Financial Data')
@ApiSubApplicationHeader()
@ApiDefaultResponse({ type: ApiResponseError })
@ErrorShape('minimal')
@NeedsConsent('read')
@Controller()
export class AccountDetailsController {
  constructor(
    private readonly accounts: AccountsService,
    private readonly env: Env,
  ) {}

  /** The list has neither `meta` nor `links` (interface, part 2.1). */
  @ApiOperation({ operationId: 'getBeneficiaries' })
  @ApiOkResponse({ type: ListOf(Beneficiary) })
  @Get('accounts/:accountId/beneficiaries')
  async beneficiaries(
    @CurrentConsent() consent: ConsentRow,
    @Param('accountId') accountId: string,
    @Req() { headers }: FastifyRequest,
  ): Promise<Pick<Envelope<Beneficiary[]>, 'data'>> {
    return { data: await this.accounts.beneficiaries(consent, readPsuHeaders(headers), accountId) };
  }

  @ApiOperation({ operationId: 'getAccountDirectDebits' })
  @ApiLimitQuery()
  @ApiOkResponse({ type: ListOf(DirectDebitResponse) })
  @Get('accounts/:accountId/direct-debits')
  directDebits(
    @CurrentConsent() consent: ConsentRow,
    @Param('accountId') accountId: string,
    @Query() query: LimitQuery,
    @Req() { headers }: FastifyRequest,
  ): Promise<Envelope<DirectDebitResponse[]>> {
    return this.limited(`accounts/${encodeURIComponent(accountId)}/direct-debits`, query, () =>
      this.accounts.directDebits(consent, readPsuHeaders(headers), accountId),
    );
  }

  @ApiOperation({ operationId: 'getAccountPeriodicPayments' })
  @ApiLimitQuery()
  @ApiOkResponse({ type: ListOf(PaymentResponse) })
  @Get('accounts/:accountId/periodic-payments')
  periodicPayments(
    @CurrentConsent() consent: ConsentRow,
    @Param('accountId') accountId: string,
    @Query() query: LimitQuery,
    @Req() { headers }: FastifyRequest,
  ): Promise<Envelope<PaymentResponse[]>> {
    return this.limited(`accounts/${encodeURIComponent(accountId)}/periodic-payments`, query, () =>
      this.accounts.periodicPayments(consent, readPsuHeaders(headers), accountId),
    );
  }

  @ApiOperation({ operationId: 'getAccountScheduledPayments' })
  @ApiLimitQuery()
  @ApiOkResponse({ type: ListOf(PaymentResponse) })
  @Get('accounts/:accountId/scheduled-payments')
  scheduledPayments(
    @CurrentConsent() consent: ConsentRow,
    @Param('accountId') accountId: string,
    @Query() query: LimitQuery,
    @Req() { headers }: FastifyRequest,
  ): Promise<Envelope<PaymentResponse[]>> {
    return this.limited(`accounts/${encodeURIComponent(accountId)}/scheduled-payments`, query, () =>
      this.accounts.scheduledPayments(consent, readPsuHeaders(headers), accountId),
    );
  }

  @ApiOperation({ operationId: 'getIdentity' })
  @ApiOkResponse({ type: EnvelopeOf(Identity) })
  @Get('identity')
  async identity(
    @CurrentConsent() consent: ConsentRow,
    @Req() { headers }: FastifyRequest,
  ): Promise<Envelope<Identity>> {
    return envelope(await this.accounts.identity(consent, readPsuHeaders(headers)), { tracingId: tracingId() });
  }

  /** The first rows of a list, and how many it has in all; the limit is refused before the bank is asked. */
  private async limited<T>(path: string, { limit }: LimitQuery, read: () => Promise<T[]>): Promise<Envelope<T[]>> {
    const page = readOffsetPage({ limit });
    const all = await read();
    const pagination = { totalCount: all.length, self: { limit: page.limit } };
    const links = linksOf(`${this.env.AGGREGATOR_URL}/${path}`, page, ['limit']);
    return envelope(slicePage(all, page), { tracingId: tracingId(), pagination }, links);
  }
}
