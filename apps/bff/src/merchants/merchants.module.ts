import { Module } from '@nestjs/common';
import { MerchantsController } from './merchants.controller.js';
import { MerchantsService } from './merchants.service.js';
import { RegistrationService } from './registration.service.js';

@Module({
  controllers: [MerchantsController],
  providers: [MerchantsService, RegistrationService],
  exports: [MerchantsService],
})
export class MerchantsModule {}
