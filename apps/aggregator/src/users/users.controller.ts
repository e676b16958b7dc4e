import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Query } from '@nestjs/common';
import {
  ApiBody,
  ApiConsumes,
  ApiOkResponse,
  ApiCreatedResponse,
  ApiOperation,
  ApiTags,
  ApiDefaultResponse,
} from '@nestjs/swagger';
import {
  ApiResponseError,
  ApplicationUser,
  ApplicationUserPatchRequest,
  type Envelope,
  envelope,
  EnvelopeOf,
  NewApplicationUser,
  UserDeleteResponse,
} from '#libs/contract';
import { ErrorShape, tracingId } from '#libs/server';
import { CurrentTenant, Tenant } from '../auth/tenant.js';
import { readUuid } from '../auth/read-uuid.js';
import { UsersFilter } from './users.filter.js';
import { UsersService } from './users.service.js';

@ApiTags('Users')
@ApiDefaultResponse({ type: ApiResponseError })
@ErrorShape('minimal')
@Controller('users')
export class UsersController {
  constructor(private readonly users: UsersService) {}

  @ApiOperation({ operationId: 'getUsers' })
  @ApiOkResponse({ type: [ApplicationUser] })
  @Get()
  list(@CurrentTenant() tenant: Tenant, @Query() filter: UsersFilter): Promise<ApplicationUser[]> {
    return this.users.list(tenant, filter['filter[applicationUserId]']);
  }

  @ApiOperation({ operationId: 'addUser' })
  @ApiCreatedResponse({ type: ApplicationUser })
  @Post()
  create(@CurrentTenant() tenant: Tenant, @Body() body: NewApplicationUser): Promise<ApplicationUser> {
    return this.users.create(tenant, body);
  }

  @ApiOperation({ operationId: 'getUser' })
  @ApiOkResponse({ type: ApplicationUser })
  @Get(':userUuid')
  get(@CurrentTenant() tenant: Tenant, @Param('userUuid') userUuid: string): Promise<ApplicationUser> {
    return this.users.get(tenant, readUuid('userUuid', userUuid));
  }

  @ApiOperation({ operationId: 'patchUser' })
  @ApiConsumes('application/json-patch+json')
  @ApiBody({ type: [ApplicationUserPatchRequest] })
  @ApiCreatedResponse({ type: ApplicationUser })
  @HttpCode(201)
  @Patch(':userUuid')
  patch(
    @CurrentTenant() tenant: Tenant,
    @Param('userUuid') userUuid: string,
    @Body() operations: unknown,
  ): Promise<ApplicationUser> {
    return this.users.patch(tenant, readUuid('userUuid', userUuid), operations);
  }

  @ApiOperation({ operationId: 'deleteUser' })
  @ApiOkResponse({ type: EnvelopeOf(UserDeleteResponse) })
  @Delete(':userUuid')
  async delete(
    @CurrentTenant() tenant: Tenant,
    @Param('userUuid') userUuid: string,
  ): Promise<Envelope<UserDeleteResponse>> {
    return envelope(await this.users.delete(tenant, readUuid('userUuid', userUuid)), { tracingId: tracingId() });
  }
}
