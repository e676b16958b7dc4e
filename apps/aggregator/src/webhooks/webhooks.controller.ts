import { Body, Controller, Delete, Get, Param, Post } from '@nestjs/common';
import {
  ApiCreatedResponse,
  ApiOkResponse,
  ApiOperation,
  ApiTags,
  ApiBadRequestResponse,
  ApiUnauthorizedResponse,
  ApiInternalServerErrorResponse,
  ApiNotAcceptableResponse,
  ApiNotFoundResponse,
} from '@nestjs/swagger';
import {
  ApiErrorResponseV2,
  ApiSubApplicationHeader,
  type Metadata,
  RegisteredWebhookResponse,
  RegisteredWebhooksResponse,
  RegisterWebhookRequest,
  ResetWebhookSecretRequest,
  WebhookCategoriesResponse,
  WebhookWithSecretResponse,
} from '#libs/contract';
import { ErrorShape, tracingId } from '#libs/server';
import { readUuid } from '../auth/read-uuid.js';
import { CurrentTenant, Tenant } from '../auth/tenant.js';
import { eventCategories } from './event-category.js';
import { WebhooksService } from './webhooks.service.js';

@ApiTags('Webhooks')
@ApiBadRequestResponse({ type: ApiErrorResponseV2 })
@ApiUnauthorizedResponse({ type: ApiErrorResponseV2 })
@ApiInternalServerErrorResponse({ type: ApiErrorResponseV2 })
@ErrorShape('numeric')
@Controller('webhook')
export class WebhooksController {
  constructor(private readonly webhooks: WebhooksService) {}

  @ApiOperation({ operationId: 'getWebhookEventsCategories' })
  @ApiOkResponse({ type: WebhookCategoriesResponse })
  @Get('events/categories')
  categories(): WebhookCategoriesResponse {
    const categories = Object.entries(eventCategories).map(([name, description]) => ({ name, description }));
    return { metadata: metadata(), data: { categories } };
  }

  @ApiOperation({ operationId: 'registerWebhook' })
  @ApiSubApplicationHeader()
  @ApiCreatedResponse({ type: WebhookWithSecretResponse })
  @ApiNotAcceptableResponse({ type: ApiErrorResponseV2 })
  @Post('events')
  async register(
    @CurrentTenant() tenant: Tenant,
    @Body() body: RegisterWebhookRequest,
  ): Promise<WebhookWithSecretResponse> {
    return { metadata: metadata(), data: await this.webhooks.register(tenant, body) };
  }

  @ApiOperation({ operationId: 'getRegisteredWebhooks' })
  @ApiSubApplicationHeader()
  @ApiOkResponse({ type: RegisteredWebhooksResponse })
  @Get('events')
  async list(@CurrentTenant() tenant: Tenant): Promise<RegisteredWebhooksResponse> {
    return { metadata: metadata(), data: { active: await this.webhooks.list(tenant) } };
  }

  @ApiOperation({ operationId: 'deleteWebhook' })
  @ApiSubApplicationHeader()
  @ApiOkResponse({ type: RegisteredWebhookResponse })
  @ApiNotFoundResponse({ type: ApiErrorResponseV2 })
  @Delete('events/:webhook_id')
  async delete(
    @CurrentTenant() tenant: Tenant,
    @Param('webhook_id') webhookId: string,
  ): Promise<RegisteredWebhookResponse> {
    return { metadata: metadata(), data: await this.webhooks.delete(tenant, readUuid('webhook_id', webhookId)) };
  }

  @ApiOperation({ operationId: 'webhookSecretReset' })
  @ApiSubApplicationHeader()
  @ApiCreatedResponse({ type: WebhookWithSecretResponse })
  @ApiNotFoundResponse({ type: ApiErrorResponseV2 })
  @Post('secrets/:webhook_id')
  async resetSecret(
    @CurrentTenant() tenant: Tenant,
    @Param('webhook_id') webhookId: string,
    @Body() { delay }: ResetWebhookSecretRequest,
  ): Promise<WebhookWithSecretResponse> {
    const id = readUuid('webhook_id', webhookId);
    return { metadata: metadata(), data: await this.webhooks.resetSecret(tenant, id, delay) };
  }
}

/** These operations print the tracing id as a UUID with dashes (RFC 9562, section 4). */
function metadata(): Metadata {
  return { tracingId: tracingId().replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5') };
}
