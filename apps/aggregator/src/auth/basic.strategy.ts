import { Injectable } from '@nestjs/common';
import { PassportStrategy } from '@nestjs/passport';
import { isUUID } from 'class-validator';
import { BasicStrategy as PassportBasicStrategy } from 'passport-http';
import { CredentialsService } from './credentials.service.js';
import type { TenantApplication } from './tenant.js';

/** HTTP Basic (RFC 7617): the user is an application's id, the password its secret. */
@Injectable()
export class BasicStrategy extends PassportStrategy(PassportBasicStrategy, 'basic') {
  constructor(private readonly credentials: CredentialsService) {
    super();
  }

  async validate(id: string, secret: string): Promise<TenantApplication | false> {
    if (!isUUID(id)) return false;
    return (await this.credentials.authenticate(id.toLowerCase(), secret)) ?? false;
  }
}
