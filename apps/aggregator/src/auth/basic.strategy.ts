import { Injectable } from '@nestjs/common';
import { PassportStrategy } from '@nestjs/passport';
import { isUUID } from 'class-validator';
import passport from 'passport';
import { CredentialsService } from './credentials.service.js';
import type { TenantApplication } from './tenant.js';

/** What a Basic header carries: an application's id and its secret. */
export interface PresentedCredentials {
  id: string;
  secret: string;
}

/**
 * HTTP Basic (RFC 7617): the user is an application's id, the password its secret. Stands on passport's own Strategy,
 * because passport-http reads with the deprecated Buffer constructor and cuts a password at its first colon.
 */
@Injectable()
export class BasicStrategy extends PassportStrategy(passport.Strategy, 'basic') {
  constructor(private readonly credentials: CredentialsService) {
    super();
  }

  override authenticate(request: { headers: { authorization?: string | undefined } }): void {
    const presented = readBasic(request.headers.authorization);
    if (presented === undefined) {
      this.fail('Basic');
      return;
    }
    this.validate(presented).then(
      (application) => (application ? this.success(application) : this.fail('Basic')),
      (error: unknown) => this.error(error),
    );
  }

  async validate({ id, secret }: PresentedCredentials): Promise<TenantApplication | false> {
    if (!isUUID(id)) return false;
    return (await this.credentials.authenticate(id.toLowerCase(), secret)) ?? false;
  }
}

/** The credentials of an Authorization header; undefined when it is absent, of another scheme or malformed. */
export function readBasic(header: string | undefined): PresentedCredentials | undefined {
  const encoded = /^Basic +([A-Za-z0-9+/]+={0,2}) *$/i.exec(header ?? '')?.[1];
  const [, id, secret] = /^([^:]+):([^]+)$/.exec(Buffer.from(encoded ?? '', 'base64').toString('utf8')) ?? [];
  return id === undefined || secret === undefined ? undefined : { id, secret };
}
