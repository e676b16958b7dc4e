import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { problems } from '#libs/contract';
import { IngestionService } from './ingestion.service.js';

/** Named in `rawBodyRoutes`, so that the bytes arrive as they were signed. */
export const webhookRoute = '/v1/webhooks/aggregator';

/**
 * The route for the aggregator's webhooks, on Fastify itself: nothing that Nest does for a request is needed here. It is
 * no part of the merchants' API and not described.
 */
export function routeWebhooks(app: NestFastifyApplication): void {
  const ingestion = app.get(IngestionService, { strict: false });
  app
    .getHttpAdapter()
    .getInstance()
    .post(webhookRoute, async ({ rawBody, headers }, reply) => {
      if (rawBody === undefined || rawBody.length === 0)
        throw problems.badRequest({ parameter: '$', message: 'A request body is required' });
      await ingestion.take({
        rawBody,
        signature: oneOf(headers['webhook-signature']),
        deliveryId: oneOf(headers['webhook-id']),
      });
      return reply.code(204).send();
    });
}

function oneOf(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}
