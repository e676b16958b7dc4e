import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import { Observable } from 'rxjs';
import { inScope } from '#libs/database';
import { knownTenantOf } from './tenant.js';

/**
 * Runs the rest of a request inside its tenant's scope, so that a query somewhere below that forgets its filter still
 * sees no row of another application. A public route has no tenant and therefore sees nothing until it says `asSystem`.
 */
@Injectable()
export class TenantScopeInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const tenant = knownTenantOf(context.switchToHttp().getRequest<object>());
    if (!tenant) return next.handle();
    return new Observable((subscriber) => inScope(tenant.scopeIds, () => next.handle().subscribe(subscriber)));
  }
}
