import { Module } from '@nestjs/common';
import { ConnectionsModule } from '../connections/connections.module.js';
import { CustomersController } from './customers.controller.js';
import { CustomersService } from './customers.service.js';
import { ErasureService } from './erasure.service.js';
import { DeletionsController } from './deletions.controller.js';
import { DeletionsService } from './deletions.service.js';
import { InboundTraces } from './inbound-traces.js';

@Module({
  imports: [ConnectionsModule],
  controllers: [CustomersController, DeletionsController],
  providers: [CustomersService, DeletionsService, ErasureService, InboundTraces],
  exports: [CustomersService, ErasureService],
})
export class CustomersModule {}
