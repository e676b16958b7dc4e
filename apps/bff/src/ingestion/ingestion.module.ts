import { Module } from '@nestjs/common';
import { QueueModule } from '#libs/database';
import { IngestionController } from './ingestion.controller.js';
import { IngestionService } from './ingestion.service.js';
import { WebhookSecrets } from './webhook-secrets.js';

@Module({
  imports: [QueueModule.register('ingestion')],
  controllers: [IngestionController],
  providers: [IngestionService, WebhookSecrets],
})
export class IngestionModule {}
