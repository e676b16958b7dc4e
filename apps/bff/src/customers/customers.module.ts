import { Module } from '@nestjs/common';
import { CustomersController } from './customers.controller.js';
import { CustomersService } from './customers.service.js';
import { ErasureService } from './erasure.service.js';
import { InboundTraces } from './inbound-traces.js';

@Module({
  controllers: [CustomersController],
  providers: [CustomersService, ErasureService, InboundTraces],
  exports: [CustomersService, ErasureService],
})
export class CustomersModule {}
