import { Controller, Headers, HttpCode, Post, Req } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { problems } from '#libs/contract';
import { IngestionService } from './ingestion.service.js';

/** Named in `rawBodyRoutes`, so that the bytes arrive as they were signed. */
export const webhookRoute = '/v1/webhooks/aggregator';

@ApiExcludeController()
@Controller('v1/webhooks/aggregator')
export class IngestionController {
  constructor(private readonly ingestion: IngestionService) {}

  @Post()
  @HttpCode(204)
  async takeWebhook(
    @Req() request: FastifyRequest,
    @Headers('webhook-signature') signature: string | undefined,
    @Headers('webhook-id') deliveryId: string | undefined,
  ): Promise<void> {
    const { rawBody } = request;
    if (rawBody === undefined || rawBody.length === 0)
      throw problems.badRequest({ parameter: '$', message: 'A request body is required' });
    await this.ingestion.take({ rawBody, signature, deliveryId });
  }
}
