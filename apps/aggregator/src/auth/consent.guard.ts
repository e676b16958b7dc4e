import {
  type CanActivate,
  createParamDecorator,
  type ExecutionContext,
  Injectable,
  SetMetadata,
  UseGuards,
  applyDecorators,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyRequest } from 'fastify';
import { ApiConsentHeader, header, problems } from '#libs/contract';
import { now } from '#libs/server';
import { permits, type ConsentUse } from '../consents/consent-state.js';
import type { ConsentRow } from '../consents/consent.queries.js';
import { KnownConsents } from '../consents/known-consents.service.js';
import { AccountGuard } from './account.guard.js';
import { consentOf, rememberConsent } from './request-consent.js';
import { tenantOf } from './tenant.js';

const USE = 'tributary:consent-use';

/**
 * Lets in whoever sends the token of a consent that permits the route's use now. Runs after the application guard: a
 * token of another application is as unknown as an invented one. Missing: 400; unknown or no longer usable: 403.
 */
@Injectable()
export class ConsentGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly known: KnownConsents,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const token = request.headers[header.consent];
    if (typeof token !== 'string' || token === '') {
      throw problems.badRequest({ parameter: header.consent, message: 'The consent header is mandatory' });
    }
    const { scopeIds } = tenantOf(request);
    const consent = await this.known.byToken(token, scopeIds);
    if (consent === undefined) throw problems.consentUnknown({ parameter: header.consent });
    const use = this.reflector.getAllAndOverride<ConsentUse | undefined>(USE, [
      context.getHandler(),
      context.getClass(),
    ]);
    refuseUnusable(consent, use ?? 'read', now());
    rememberConsent(request, consent);
    return true;
  }
}

/** The end of the consent and the date by which its owner must confirm it count even before the sweep has seen them. */
function refuseUnusable(consent: ConsentRow, use: ConsentUse, at: Date): void {
  const parameter = header.consent;
  if (!permits(consent.status, use)) throw problems.consentNotAuthorised({ parameter });
  if (use !== 'read') return;
  if (consent.expiresAt !== null && consent.expiresAt <= at) {
    throw problems.consentNotAuthorised({ parameter, message: 'The consent has expired' });
  }
  if (consent.reconfirmBy !== null && consent.reconfirmBy <= at) {
    throw problems.consentNotAuthorised({ parameter, message: 'The consent must be reconfirmed by the user' });
  }
}

/** Demands the `consent` header on a route and says what it is used for; reading is kept to the consent's accounts. */
export function NeedsConsent(use: ConsentUse): ClassDecorator & MethodDecorator {
  const guards = use === 'read' ? [ConsentGuard, AccountGuard] : [ConsentGuard];
  return applyDecorators(SetMetadata(USE, use), UseGuards(...guards), ApiConsentHeader());
}

/** Injects the consent that the guard let in. */
export const CurrentConsent = createParamDecorator((_data: undefined, context: ExecutionContext): ConsentRow => {
  return consentOf(context.switchToHttp().getRequest<object>());
});
