import { Body, Controller, Delete, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { ApiAcceptedResponse, ApiCreatedResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { ForMerchant } from '../auth/access.js';
import { CurrentMerchant } from '../auth/caller.js';
import { UuidParam } from '../auth/uuid-param.js';
import { Repeatable } from '../idempotency/idempotency.js';
import { CustomerPage, CustomerQuery, CustomerView, NewCustomer } from './customer.dto.js';
import { CustomersService } from './customers.service.js';

@ApiTags('Customers')
@ForMerchant()
@Controller('v1/customers')
export class CustomersController {
  constructor(private readonly customers: CustomersService) {}

  @Post()
  @Repeatable()
  @ApiOperation({
    summary: 'Create a customer',
    description: 'By the merchant’s own reference. A customer that is known by it already is answered as it is.',
  })
  @ApiCreatedResponse({ type: CustomerView })
  createCustomer(@CurrentMerchant() merchantId: string, @Body() { reference }: NewCustomer): Promise<CustomerView> {
    return this.customers.create(merchantId, reference);
  }

  @Get()
  @ApiOperation({ summary: 'List the customers', description: 'The newest first, in pages; also by reference.' })
  @ApiOkResponse({ type: CustomerPage })
  listCustomers(@CurrentMerchant() merchantId: string, @Query() query: CustomerQuery): Promise<CustomerPage> {
    return this.customers.list(merchantId, query);
  }

  @Get(':customerId')
  @ApiOperation({ summary: 'Read a customer', description: '404 once the deletion has ended: nothing is left.' })
  @ApiOkResponse({ type: CustomerView })
  getCustomer(
    @CurrentMerchant() merchantId: string,
    @Param('customerId', UuidParam) id: string,
  ): Promise<CustomerView> {
    return this.customers.get(merchantId, id);
  }

  @Delete(':customerId')
  @HttpCode(202)
  @ApiOperation({
    summary: 'Delete a customer and everything of theirs',
    description:
      'Begins the deletion: consents are withdrawn at the banks, then every row about the customer is deleted. Of payments that ' +
      'were sent to a bank a record without a person is kept: id, institution, amount, currency, status and times. A payment still ' +
      'on its way is waited for, a day at most, and a bank that does not confirm the end of a consent for three (`DELETION_PATIENCE_HOURS`): ' +
      'then everything is deleted all the same, and the proof at `/v1/deletions/{deletionId}` says what is unconfirmed. The customer ' +
      'is `deleting` until then, and 404 afterwards.',
  })
  @ApiAcceptedResponse({ type: CustomerView })
  deleteCustomer(
    @CurrentMerchant() merchantId: string,
    @Param('customerId', UuidParam) id: string,
  ): Promise<CustomerView> {
    return this.customers.delete(merchantId, id);
  }
}
