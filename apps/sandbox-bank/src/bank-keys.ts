import { randomBytes } from 'node:crypto';
import { calculateJwkThumbprint, exportJWK, generateKeyPair, importJWK, type CryptoKey, type JWK } from 'jose';
import type { Bank } from './banks.js';
import type { Store } from './store.js';

/** A bank's keys: one pair signs id_tokens, JARM responses and messages. Made at the first start and kept with the ledger. */
export interface BankKeys {
  kid: string;
  privateJwk: JWK;
  publicJwk: JWK;
  privateKey: CryptoKey;
  cookieKey: string;
}

/** The bank's stored keys, made when there are none yet. */
export async function bankKeys(store: Store, bank: Pick<Bank, 'id'>): Promise<BankKeys> {
  const setting = `keys.${bank.id}`;
  let stored = store.setting(setting);
  if (stored === undefined) {
    const pair = await generateKeyPair('PS256', { extractable: true });
    const jwk = await exportJWK(pair.privateKey);
    stored = JSON.stringify({
      jwk: { ...jwk, kid: await calculateJwkThumbprint(jwk), alg: 'PS256', use: 'sig' },
      cookieKey: randomBytes(32).toString('base64url'),
    });
    store.keep(setting, stored);
  }
  const { jwk, cookieKey } = JSON.parse(stored) as { jwk: JWK; cookieKey: string };
  const { kty, n, e, kid, alg, use } = jwk;
  const publicJwk = { kty, n, e, kid, alg, use } as JWK;
  return {
    kid: kid ?? '',
    privateJwk: jwk,
    publicJwk,
    privateKey: (await importJWK(jwk, 'PS256')) as CryptoKey,
    cookieKey,
  };
}
