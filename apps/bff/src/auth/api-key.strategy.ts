import { Inject, Injectable } from '@nestjs/common';
import { PassportStrategy } from '@nestjs/passport';
import passport from 'passport';
import type { Pool } from 'pg';
import { hashToken, POOL } from '#libs/database';
import { MerchantStatus } from '../merchants/merchant-state.js';
import type { Caller } from './caller.js';

/** Every API key starts so; it tells keys from session tokens and lets scanners find leaked ones. */
export const apiKeyPrefix = 'trb_';

interface BearerRequest {
  headers: { authorization?: string };
}

type Verify = (token: string, done: (error: Error | null, caller?: Caller | false) => void) => void;

/** The token of an `Authorization: Bearer` header (RFC 6750, section 2.1). */
export function bearerToken(authorization: string | undefined): string | undefined {
  return /^Bearer ([A-Za-z0-9\-._~+/]+=*)$/i.exec(authorization ?? '')?.[1];
}

/** Passport's side of it: takes the token out of the header and asks `verify`. */
class BearerKeyStrategy extends passport.Strategy {
  override readonly name = 'api-key';

  constructor(private readonly verify: Verify) {
    super();
  }

  override authenticate(request: BearerRequest): void {
    const token = bearerToken(request.headers.authorization);
    if (token === undefined || !token.startsWith(apiKeyPrefix)) {
      this.fail(401);
      return;
    }
    this.verify(token, (error, caller) => {
      if (error) this.error(error);
      else if (caller) this.success(caller);
      else this.fail(401);
    });
  }
}

/** Signs a merchant's backend in by the hash of its API key. Keys are 256 random bits, so a plain keyed hash is enough. */
@Injectable()
export class ApiKeyStrategy extends PassportStrategy(BearerKeyStrategy, 'api-key') {
  constructor(@Inject(POOL) private readonly pool: Pool) {
    super();
  }

  async validate(token: string): Promise<Caller | false> {
    const { rows } = await this.pool.query<{ merchant_id: string }>({
      name: 'api-key-merchant',
      text: `select k.merchant_id from api_keys k join merchants m on m.id = k.merchant_id
             where k.hash = $1 and k.revoked_at is null and m.status = $2`,
      values: [hashToken(token), MerchantStatus.active],
    });
    const merchantId = rows[0]?.merchant_id;
    return merchantId === undefined ? false : { kind: 'merchant', merchantId };
  }
}
