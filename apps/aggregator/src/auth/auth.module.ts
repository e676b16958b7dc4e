import { Global, Module } from '@nestjs/common';
import { APP_GUARD, APP_INTERCEPTOR } from '@nestjs/core';
import { ApiVersionGuard } from './api-version.guard.js';
import { ApplicationGuard } from './application.guard.js';
import { BasicStrategy } from './basic.strategy.js';
import { CredentialsService } from './credentials.service.js';
import { TenantScopeInterceptor } from './tenant-scope.interceptor.js';

/** Authentication of every route that is not marked public, and the version that each request speaks. */
@Global()
@Module({
  providers: [
    CredentialsService,
    BasicStrategy,
    { provide: APP_GUARD, useClass: ApplicationGuard },
    { provide: APP_GUARD, useClass: ApiVersionGuard },
    { provide: APP_INTERCEPTOR, useClass: TenantScopeInterceptor },
  ],
  exports: [CredentialsService],
})
export class AuthModule {}
