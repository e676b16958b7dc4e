import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { ScaMethod } from '#libs/contract';
import type { Grant } from '#libs/connectors';
import { hashToken, SecretBox } from '#libs/database';

/** A token, and the two forms in which it is kept: findable and showable. */
export interface MintedToken {
  token: string;
  hash: string;
  sealed: string;
}

/** Seals and opens what a consent holds in secret. Each text is bound to its consent and its use, so none can be swapped. */
@Injectable()
export class ConsentSecrets {
  constructor(private readonly box: SecretBox) {}

  /** A new consent token: 256 random bits, opaque to clients. */
  mintToken(consentId: string): MintedToken {
    const token = randomBytes(32).toString('base64url');
    return { token, hash: consentTokenHash(token), sealed: this.box.seal(token, context(consentId, 'token')) };
  }

  openToken(consentId: string, sealed: string): string {
    return this.box.open(sealed, context(consentId, 'token'));
  }

  sealGrant(consentId: string, grant: Grant, use: 'grant' | 'pending'): string {
    return this.box.seal(JSON.stringify(grant), context(consentId, use));
  }

  openGrant(consentId: string, sealed: string, use: 'grant' | 'pending'): Grant {
    const stored = JSON.parse(this.box.open(sealed, context(consentId, use))) as StoredGrant;
    const { expiresAt, ...rest } = stored;
    return expiresAt === undefined ? rest : { ...rest, expiresAt: new Date(expiresAt) };
  }

  sealRequest(consentId: string, request: object): string {
    return this.box.seal(JSON.stringify(request), context(consentId, 'request'));
  }

  /** The request as it was sealed; the caller knows its class from the consent's kind. */
  openRequest<T extends object>(consentId: string, sealed: string): T {
    return JSON.parse(this.box.open(sealed, context(consentId, 'request'))) as T;
  }

  /** Seals a text that belongs to an authorisation under way: where its user is sent, or the bank's answer. */
  sealText(consentId: string, use: 'url' | 'answer', text: string): string {
    return this.box.seal(text, context(consentId, use));
  }

  openText(consentId: string, use: 'url' | 'answer', sealed: string): string {
    return this.box.open(sealed, context(consentId, use));
  }

  sealSca(consentId: string, choice: ScaChoice): string {
    return this.box.seal(JSON.stringify(choice), context(consentId, 'sca'));
  }

  openSca(consentId: string, sealed: string): ScaChoice {
    return JSON.parse(this.box.open(sealed, context(consentId, 'sca'))) as ScaChoice;
  }
}

/** The SCA methods a bank offers, and the chosen one with what the user must see of its challenge. */
export interface ScaChoice {
  methods: ScaMethod[];
  selected?: ScaMethod;
}

type StoredGrant = Omit<Grant, 'expiresAt'> & { expiresAt?: string };

/** What a consent token is looked up by. */
export function consentTokenHash(token: string): string {
  return hashToken(token, 'consent-token');
}

/** A new one-time token and what it is looked up by. */
export function mintOneTimeToken(): { token: string; hash: string } {
  const token = randomBytes(32).toString('base64url');
  return { token, hash: oneTimeTokenHash(token) };
}

/** What a one-time token is looked up by. */
export function oneTimeTokenHash(token: string): string {
  return hashToken(token, 'one-time-token');
}

/** A new state: 32 lowercase hex characters, unguessable, since whoever knows it may answer for the bank. */
export function newState(): string {
  return randomBytes(16).toString('hex');
}

function context(consentId: string, use: string): string {
  return `consent:${consentId}:${use}`;
}
