import { Body, Controller, Delete, Get, Param, Post, Query } from '@nestjs/common';
import { ApiCreatedResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { ForMerchant } from '../auth/access.js';
import { CurrentKey } from '../auth/caller.js';
import { UuidParam } from '../auth/uuid-param.js';
import { Repeatable, WorkId } from '../idempotency/idempotency.js';
import { ListQuery } from '../list.dto.js';
import { ApiKeyList, ApiKeyView, CreatedApiKey, NewApiKey } from './api-key.dto.js';
import { ApiKeysService, type KeyHolder } from './api-keys.service.js';

@ApiTags('API keys')
@ForMerchant()
@Controller('v1/api-keys')
export class ApiKeysController {
  constructor(private readonly keys: ApiKeysService) {}

  @Post()
  @Repeatable()
  @ApiOperation({
    summary: 'Create an API key',
    description:
      'The answer shows the key once. To rotate, give `expiresAt`: the key that signs this call ends then, and until then both work.',
  })
  @ApiCreatedResponse({ type: CreatedApiKey })
  createApiKey(
    @CurrentKey() holder: KeyHolder,
    @WorkId() workId: string | undefined,
    @Body() { expiresAt }: NewApiKey,
  ): Promise<CreatedApiKey> {
    return this.keys.create(holder, { workId, expiresAt });
  }

  @Get()
  @ApiOperation({
    summary: 'List the API keys',
    description:
      'The newest first, in pages, also those that have ended; each with its first characters and its last use.',
  })
  @ApiOkResponse({ type: ApiKeyList })
  listApiKeys(@CurrentKey() holder: KeyHolder, @Query() query: ListQuery): Promise<ApiKeyList> {
    return this.keys.list(holder, query);
  }

  @Delete(':apiKeyId')
  @ApiOperation({
    summary: 'Revoke an API key',
    description: 'It ends at once. The last key that works cannot be revoked.',
  })
  @ApiOkResponse({ type: ApiKeyView })
  revokeApiKey(@CurrentKey() holder: KeyHolder, @Param('apiKeyId', UuidParam) id: string): Promise<ApiKeyView> {
    return this.keys.revoke(holder, id);
  }
}
