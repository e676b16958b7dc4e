import { Module } from '@nestjs/common';
import { ingestionQueue } from '../queues.js';
import { InboundStore } from './inbound-store.js';
import { IngestionService } from './ingestion.service.js';
import { WebhookSecrets } from './webhook-secrets.js';

/** Its one route is added to Fastify itself: see ingestion.route.ts. */
@Module({ imports: [ingestionQueue], providers: [IngestionService, InboundStore, WebhookSecrets] })
export class IngestionModule {}
