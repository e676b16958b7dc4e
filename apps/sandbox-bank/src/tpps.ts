import { readFileSync } from 'node:fs';
import type { JWK } from 'jose';
import { banks } from './banks.js';

/** A third party that is registered with the banks, as the file named by TPP_FILE lists it. */
export interface Tpp {
  clientId: string;
  /** What the PSU reads on the bank's pages; the client id when left out. */
  name?: string;
  /** Public keys: they verify client assertions, request objects and message signatures. */
  jwks: { keys: JWK[] };
  redirectUris: string[];
  organisationId: string;
  softwareStatementId: string;
  /** The subject of its certificates (RFC 4514), which UK banks know it by. */
  certificateSubject: string;
  /** The `organizationIdentifier` in that subject, such as `PSDGB-FCA-900001`, which Berlin Group banks know it by. */
  organisationIdentifier: string;
  /** Ids of the banks that know it. */
  banks: string[];
}

const texts = ['clientId', 'organisationId', 'softwareStatementId', 'certificateSubject', 'organisationIdentifier'];

export class TppFileError extends Error {}

/** Reads the registrations; throws a TppFileError that names what is wrong. */
export function readTpps(file: string): Tpp[] {
  let parsed: unknown;
  try {
    parsed = JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new TppFileError(`TPP_FILE cannot be read: ${error instanceof Error ? error.message : 'unreadable'}`);
  }
  if (!Array.isArray(parsed)) throw new TppFileError('TPP_FILE is not a JSON array');
  return parsed.map((entry: unknown, index) => {
    const fault = faultOf(entry);
    if (fault) throw new TppFileError(`TPP_FILE entry ${index}: ${fault}`);
    return entry as Tpp;
  });
}

function faultOf(entry: unknown): string | undefined {
  if (typeof entry !== 'object' || entry === null) return 'is not an object';
  const members = new Map<string, unknown>(Object.entries(entry));
  for (const name of texts) {
    const value = members.get(name);
    if (typeof value !== 'string' || value === '') return `${name} must be a text`;
  }
  for (const name of ['redirectUris', 'banks']) {
    const value = members.get(name);
    if (!Array.isArray(value) || !value.every((item) => typeof item === 'string'))
      return `${name} must be a list of texts`;
  }
  const named = members.get('banks');
  const unknown = Array.isArray(named) && named.find((id) => !banks.some((bank) => bank.id === id));
  if (unknown) return `banks names ${String(unknown)}, which is no bank`;
  return jwksFault(members.get('jwks'));
}

function jwksFault(jwks: unknown): string | undefined {
  const keys = typeof jwks === 'object' && jwks !== null && 'keys' in jwks ? jwks.keys : undefined;
  if (!Array.isArray(keys) || keys.length === 0) return 'jwks.keys must hold a key';
  const isPrivate = keys.some((key: unknown) => typeof key === 'object' && key !== null && 'd' in key);
  return isPrivate ? 'jwks.keys must be public keys only' : undefined;
}
