import { Module } from '@nestjs/common';
import { ingestionQueue } from '../queues.js';
import { IngestionController } from './ingestion.controller.js';
import { IngestionService } from './ingestion.service.js';
import { WebhookSecrets } from './webhook-secrets.js';

@Module({
  imports: [ingestionQueue],
  controllers: [IngestionController],
  providers: [IngestionService, WebhookSecrets],
})
export class IngestionModule {}
