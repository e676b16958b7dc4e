import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Query } from '@nestjs/common';
import { ApiAcceptedResponse, ApiCreatedResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { ForMerchant } from '../auth/access.js';
import { CurrentMerchant } from '../auth/caller.js';
import { UuidParam } from '../auth/uuid-param.js';
import { EventView } from '../events/event.dto.js';
import { EventsService } from '../events/events.service.js';
import { Repeatable, WorkId } from '../idempotency/idempotency.js';
import { DeliveryLists } from './delivery-lists.service.js';
import {
  DeliveryPage,
  DeliveryQuery,
  EndpointChange,
  EndpointList,
  EndpointView,
  EndpointWithSecret,
  NewEndpoint,
  SecretRotation,
} from './endpoint.dto.js';
import { EndpointsService } from './endpoints.service.js';

@ApiTags('Webhooks')
@ForMerchant()
@Controller('v1/webhook-endpoints')
export class EndpointsController {
  constructor(
    private readonly endpoints: EndpointsService,
    private readonly deliveries: DeliveryLists,
    private readonly events: EventsService,
  ) {}

  @Post()
  @Repeatable()
  @ApiOperation({
    summary: 'Be told of events',
    description:
      'Each event is posted as JSON with the headers of Standard Webhooks (`webhook-id`, `webhook-timestamp`, `webhook-signature`) and ' +
      'is taken with any 2xx. Else it is sent again for three days. The order is not promised: `sequence` tells it.',
  })
  @ApiCreatedResponse({ type: EndpointWithSecret })
  createWebhookEndpoint(
    @CurrentMerchant() merchantId: string,
    @WorkId() workId: string | undefined,
    @Body() body: NewEndpoint,
  ): Promise<EndpointWithSecret> {
    return this.endpoints.create(merchantId, body, workId);
  }

  @Get()
  @ApiOperation({
    summary: 'List the endpoints',
    description: 'All of the merchant, each with its state; secrets are never shown again.',
  })
  @ApiOkResponse({ type: EndpointList })
  async listWebhookEndpoints(@CurrentMerchant() merchantId: string): Promise<EndpointList> {
    return { data: await this.endpoints.list(merchantId) };
  }

  @Get(':id')
  @ApiOperation({
    summary: 'Read an endpoint',
    description: 'Its address, its types of event and whether it is in use.',
  })
  @ApiOkResponse({ type: EndpointView })
  getWebhookEndpoint(@CurrentMerchant() merchantId: string, @Param('id', UuidParam) id: string): Promise<EndpointView> {
    return this.endpoints.get(merchantId, id);
  }

  @Patch(':id')
  @Repeatable()
  @ApiOperation({
    summary: 'Change an endpoint',
    description: 'Only what is given is changed.',
  })
  @ApiOkResponse({ type: EndpointView })
  updateWebhookEndpoint(
    @CurrentMerchant() merchantId: string,
    @Param('id', UuidParam) id: string,
    @Body() body: EndpointChange,
  ): Promise<EndpointView> {
    return this.endpoints.update(merchantId, id, body);
  }

  @Delete(':id')
  @ApiOperation({
    summary: 'Delete an endpoint',
    description: 'With its secrets and what is still to be delivered to it.',
  })
  @ApiOkResponse({ type: EndpointView })
  deleteWebhookEndpoint(
    @CurrentMerchant() merchantId: string,
    @Param('id', UuidParam) id: string,
  ): Promise<EndpointView> {
    return this.endpoints.delete(merchantId, id);
  }

  @Post(':id/rotate-secret')
  @Repeatable()
  @ApiOperation({
    summary: 'Rotate the secret of an endpoint',
    description: 'The answer shows the new secret once; for a while deliveries are signed with both.',
  })
  @ApiCreatedResponse({ type: EndpointWithSecret })
  rotateWebhookEndpointSecret(
    @CurrentMerchant() merchantId: string,
    @Param('id', UuidParam) id: string,
    @WorkId() workId: string | undefined,
    @Body() { overlapSeconds }: SecretRotation,
  ): Promise<EndpointWithSecret> {
    return this.endpoints.rotate(merchantId, id, { overlapSeconds, workId });
  }

  @Post(':id/ping')
  @Repeatable()
  @HttpCode(202)
  @ApiOperation({
    summary: 'Send a `webhook_endpoint.ping` to this endpoint alone',
    description: 'An event of its own that no other endpoint gets, to try the receiver.',
  })
  @ApiAcceptedResponse({ type: EventView })
  async pingWebhookEndpoint(
    @CurrentMerchant() merchantId: string,
    @Param('id', UuidParam) id: string,
  ): Promise<EventView> {
    return this.events.get({ merchantId }, await this.endpoints.ping(merchantId, id));
  }

  @Get(':id/deliveries')
  @ApiOperation({
    summary: 'List the deliveries of an endpoint',
    description: 'The newest first, each with its attempts.',
  })
  @ApiOkResponse({ type: DeliveryPage })
  listWebhookDeliveries(
    @CurrentMerchant() merchantId: string,
    @Param('id', UuidParam) id: string,
    @Query() query: DeliveryQuery,
  ): Promise<DeliveryPage> {
    return this.deliveries.list(merchantId, id, query);
  }
}
