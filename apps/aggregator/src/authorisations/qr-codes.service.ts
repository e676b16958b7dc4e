import { randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import type { Pool } from 'pg';
import QRCode from 'qrcode';
import { asSystem, POOL } from '#libs/database';
import { Env } from '../config.js';
import { ConsentSecrets } from '../consents/consent-secrets.js';
import { awaitsCallback } from '../consents/consent-state.js';
import { findConsentByQr } from '../consents/consent.queries.js';

/** Longer addresses make codes that a phone's camera cannot read off a screen. */
const READABLE_MAX = 1_000;

/** Where the user is sent, as the client learns it and as the consent keeps it. */
export interface AuthorisationLinks {
  shown: { authorisationUrl: string; qrCodeUrl: string };
  stored: { qrId: string; sealedUrl: string };
}

/**
 * QR codes of authorisation addresses, for users who go on on their phone. A code has a random name and nothing else in its
 * address; it is drawn while its user is awaited, and gone afterwards.
 */
@Injectable()
export class QrCodes {
  constructor(
    @Inject(POOL) private readonly pool: Pool,
    private readonly secrets: ConsentSecrets,
    private readonly env: Env,
  ) {}

  /** The links of an authorisation whose user is sent to `url`. */
  links(consentId: string, url: string): AuthorisationLinks {
    const qrId = randomUUID();
    return {
      shown: { authorisationUrl: url, qrCodeUrl: `${this.addressOf(qrId)}/image?size=0` },
      stored: { qrId, sealedUrl: this.secrets.sealText(consentId, 'url', url) },
    };
  }

  /** Where the code of this name leads; undefined when there is none, or its user is no longer awaited. */
  async target(qrId: string): Promise<string | undefined> {
    // Cameras have no credentials: the name alone says whose code this is.
    const consent = await asSystem(() => findConsentByQr(this.pool, qrId));
    if (!consent?.sealedUrl || !awaitsCallback(consent.status)) return undefined;
    return this.secrets.openText(consent.id, 'url', consent.sealedUrl);
  }

  /** The code as PNG, `size` pixels wide, or as wide as it needs when 0. A long address is reached through a short one of ours. */
  async image(qrId: string, size: number): Promise<Buffer | undefined> {
    const target = await this.target(qrId);
    if (target === undefined) return undefined;
    const text = target.length > READABLE_MAX ? this.addressOf(qrId) : target;
    return QRCode.toBuffer(text, { errorCorrectionLevel: 'M', ...(size > 0 ? { width: size } : { scale: 4 }) });
  }

  private addressOf(qrId: string): string {
    return `${this.env.AGGREGATOR_URL}/qr-codes/${qrId}`;
  }
}
