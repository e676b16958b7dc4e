import { createCipheriv, createDecipheriv, createSecretKey, KeyObject, randomBytes } from 'node:crypto';

const ivBytes = 12;
const tagBytes = 16;
const keyIdPattern = /^[A-Za-z0-9_-]{1,32}$/;

/** A sealed text that does not open. It never says why: not which key, not which part. */
export class UnsealingError extends Error {
  constructor() {
    super('The sealed text cannot be opened.');
    this.name = 'UnsealingError';
  }
}

/**
 * Encrypts what must be shown or used again: grants, consent tokens, webhook secrets. AES-256-GCM with a random
 * 96-bit nonce (NIST SP 800-38D); the text is `v1.<key id>.<nonce>.<ciphertext>.<tag>`, the parts in base64url. The
 * context (`consent:<id>:grant`) is authenticated with it, so a sealed text moved to another row or column does not open.
 */
export class SecretBox {
  private readonly keys: ReadonlyMap<string, KeyObject>;
  private readonly sealingKeyId: string;
  /** Nonces are no secret, so many are drawn at once: one call for random bytes costs more than sealing a short text. */
  private nonces = Buffer.alloc(0);

  /** `keys` is `id:base64(32 bytes)`, several joined by commas. The first seals, all open. Throws on a malformed ring. */
  constructor(keys: string) {
    this.keys = parseKeys(keys);
    this.sealingKeyId = this.keys.keys().next().value ?? '';
  }

  seal(plain: string, context: string): string {
    return this.sealBuffer(Buffer.from(plain, 'utf8'), context);
  }

  /** Throws `UnsealingError` on a wrong context, an altered text or a key that is not in the ring. */
  open(sealed: string, context: string): string {
    return this.openBuffer(sealed, context).toString('utf8');
  }

  sealBuffer(plain: Buffer, context: string): string {
    const iv = this.nonce();
    const cipher = createCipheriv('aes-256-gcm', this.key(this.sealingKeyId), iv, { authTagLength: tagBytes });
    cipher.setAAD(additionalData(this.sealingKeyId, context));
    const ciphertext = Buffer.concat([cipher.update(plain), cipher.final()]);
    const parts = [iv, ciphertext, cipher.getAuthTag()].map((part) => part.toString('base64url'));
    return ['v1', this.sealingKeyId, ...parts].join('.');
  }

  /** As `open`, for bytes. */
  openBuffer(sealed: string, context: string): Buffer {
    const [version, keyId, iv, ciphertext, tag, ...rest] = sealed.split('.');
    if (version !== 'v1' || !keyId || !iv || ciphertext === undefined || !tag || rest.length > 0)
      throw new UnsealingError();
    try {
      const decipher = createDecipheriv('aes-256-gcm', this.key(keyId), strictBytes(iv, ivBytes), {
        authTagLength: tagBytes,
      });
      decipher.setAAD(additionalData(keyId, context));
      decipher.setAuthTag(strictBytes(tag, tagBytes));
      return Buffer.concat([decipher.update(strictBytes(ciphertext)), decipher.final()]);
    } catch {
      throw new UnsealingError();
    }
  }

  /** True where the text was sealed with an older key than the one that seals now: seal it again when it is next written. */
  isStale(sealed: string): boolean {
    return sealed.split('.')[1] !== this.sealingKeyId;
  }

  private nonce(): Buffer {
    if (this.nonces.length < ivBytes) this.nonces = randomBytes(ivBytes * 256);
    const iv = this.nonces.subarray(0, ivBytes);
    this.nonces = this.nonces.subarray(ivBytes);
    return iv;
  }

  private key(id: string): KeyObject {
    const key = this.keys.get(id);
    if (!key) throw new UnsealingError();
    return key;
  }
}

function parseKeys(text: string): Map<string, KeyObject> {
  const keys = new Map<string, KeyObject>();
  for (const entry of text.split(',').map((part) => part.trim())) {
    const colon = entry.indexOf(':');
    const id = entry.slice(0, colon);
    const bytes = Buffer.from(entry.slice(colon + 1), 'base64');
    // The message names neither key nor id: it may end up in a log.
    if (colon < 1 || !keyIdPattern.test(id) || bytes.length !== 32 || keys.has(id)) {
      throw new Error('Sealing keys must be written as id:base64 of 32 bytes, joined by commas, each id once.');
    }
    keys.set(id, createSecretKey(bytes));
  }
  return keys;
}

/** The version and the key id are authenticated too, so neither can be swapped. */
function additionalData(keyId: string, context: string): Buffer {
  return Buffer.from(`v1.${keyId}.${context}`, 'utf8');
}

/** Node's decoder skips what is not base64url; a text that does not come back the same was altered. */
function strictBytes(text: string, length?: number): Buffer {
  const bytes = Buffer.from(text, 'base64url');
  if (bytes.toString('base64url') !== text || (length !== undefined && bytes.length !== length))
    throw new UnsealingError();
  return bytes;
}
