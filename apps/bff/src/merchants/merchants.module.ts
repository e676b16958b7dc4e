import { Module } from '@nestjs/common';
import { ApiKeysController } from './api-keys.controller.js';
import { ApiKeysService } from './api-keys.service.js';
import { MerchantsController } from './merchants.controller.js';
import { MerchantsService } from './merchants.service.js';
import { RegistrationService } from './registration.service.js';

@Module({
  controllers: [MerchantsController, ApiKeysController],
  providers: [ApiKeysService, MerchantsService, RegistrationService],
  exports: [MerchantsService, RegistrationService],
})
export class MerchantsModule {}
