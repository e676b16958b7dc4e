import { Controller, Get, Param } from '@nestjs/common';
import { ApiDefaultResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { ApiResponseError, type Envelope, envelope, Institution, ListOf } from '#libs/contract';
import { ErrorShape, tracingId } from '#libs/server';
import { InstitutionsService } from './institutions.service.js';

@ApiTags('Institutions')
@ApiDefaultResponse({ type: ApiResponseError })
@ErrorShape('minimal')
@Controller('institutions')
export class InstitutionsController {
  constructor(private readonly institutions: InstitutionsService) {}

  @ApiOperation({ operationId: 'getInstitutions' })
  @ApiOkResponse({ type: ListOf(Institution) })
  @Get()
  list(): Envelope<Institution[]> {
    return envelope(this.institutions.list(), { tracingId: tracingId() });
  }

  @ApiOperation({ operationId: 'getInstitution' })
  @ApiOkResponse({ type: Institution })
  @Get(':institutionId')
  get(@Param('institutionId') institutionId: string): Institution {
    return this.institutions.show(institutionId);
  }
}
