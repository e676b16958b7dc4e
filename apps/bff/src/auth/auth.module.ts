import { Global, Module } from '@nestjs/common';
import { PassportModule } from '@nestjs/passport';
import { AdmissionService } from './admission.service.js';
import { ApiKeyStrategy } from './api-key.strategy.js';
import { KnownCustomers } from './known-customers.js';
import { RateLimits } from './rate-limits.js';
import { SessionStrategy } from './session.strategy.js';

/** Global, because what ends a key or a customer says so here. */
@Global()
@Module({
  imports: [PassportModule],
  providers: [ApiKeyStrategy, SessionStrategy, KnownCustomers, RateLimits, AdmissionService],
  exports: [ApiKeyStrategy, KnownCustomers],
})
export class AuthModule {}
