import { generateKeyPair, type JsonWebKey, randomBytes, randomInt, randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import {
  type Authority,
  type Certificate,
  distinguishedName,
  endsWithin,
  makeAuthority,
  makeCertificate,
} from './certificates.js';

/** Keys and credentials of one sandbox, made once and kept in `DATA_DIR` with mode 0600. */
export interface SandboxCredentials {
  /** Key ring of the aggregator's and the BFF's sealed columns: `id:base64`. */
  sealingKeys: string;
  bffSealingKeys: string;
  sessionKey: string;
  operatorKey: string;
  application: { id: string; secret: string };
  /** How the sandbox banks know us: a registered TPP with its signing key (RSA, PS256). */
  tpp: { clientId: string; organisationId: string; softwareStatementId: string; kid: string; privateJwk: JsonWebKey };
  directory: Directory;
  merchant?: { id: string; name: string; apiKey: string };
}

/** A small trust anchor: the banks' certificate, and ours, one for each bank. */
interface Directory {
  authority: Authority;
  /** Names us in every certificate (ETSI TS 119 495). */
  organisationIdentifier: string;
  sandbox: Certificate;
  tpp: Record<string, Certificate>;
}

/** The files that tell the programs of our registration with the sandbox banks. */
export interface TppFiles {
  tppFile: string;
  tlsFile: string;
  tppCredentialsFile: string;
}

const banks = ['meridian', 'tamar', 'thistle', 'lindenhof', 'marais', 'isarkasse', 'fjordbank', 'ticino'];
/** Names of this machine, and that of the container. */
const sandboxHosts = ['localhost', 'sandbox.localhost', '127.0.0.1'];
/** A start makes anew what would end before the next one. */
const renewalDays = 30;

const secret = (): string => randomBytes(32).toString('hex');
const ring = (): string => `k1:${randomBytes(32).toString('base64')}`;

async function make(): Promise<SandboxCredentials> {
  const { privateKey } = await promisify(generateKeyPair)('rsa', { modulusLength: 2048 });
  return {
    sealingKeys: ring(),
    bffSealingKeys: ring(),
    sessionKey: secret(),
    operatorKey: secret(),
    application: { id: randomUUID(), secret: secret() },
    tpp: {
      clientId: randomUUID(),
      organisationId: `org-${randomBytes(6).toString('hex')}`,
      softwareStatementId: `software-${randomBytes(6).toString('hex')}`,
      kid: randomBytes(8).toString('hex'),
      privateJwk: privateKey.export({ format: 'jwk' }),
    },
    directory: makeDirectory(),
  };
}

/** The directory with certificates that last: those of `kept` that do, new ones for the others. */
function makeDirectory(kept?: Directory): Directory {
  const lasts = (each: Certificate | undefined): each is Certificate => !!each && !endsWithin(renewalDays, each);
  // Nothing signed outlives its authority by much, so all begin anew with it.
  const old = lasts(kept?.authority) ? kept : undefined;
  const authority = old?.authority ?? makeAuthority({ country: 'GB', commonName: 'Tributary sandbox directory' });
  const organisationIdentifier = kept?.organisationIdentifier ?? `PSDGB-FCA-${randomInt(100_000, 1_000_000)}`;
  const tpp = { country: 'GB', organisation: 'Tributary', organisationIdentifier, commonName: 'Tributary sandbox' };
  const ours = (bank: string): Certificate => {
    const held = old?.tpp[bank];
    return lasts(held) ? held : makeCertificate(tpp, authority);
  };
  const server = { country: 'GB', commonName: 'Sandbox banks' };
  return {
    authority,
    organisationIdentifier,
    sandbox: lasts(old?.sandbox) ? old.sandbox : makeCertificate(server, authority, { hosts: sandboxHosts }),
    tpp: Object.fromEntries(banks.map((bank) => [bank, ours(bank)])),
  };
}

/** Writes JSON so that a crash leaves either the old or the new file, readable by its owner alone. */
export async function writePrivateJson(file: string, content: unknown): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(`${file}.new`, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
  await rename(`${file}.new`, file);
}

/** The sandbox's credentials: those of the last start, with certificates renewed in time, or new ones. */
export async function loadCredentials(dataDir: string): Promise<SandboxCredentials> {
  const text = await readFile(join(dataDir, 'credentials.json'), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  const kept = text === undefined ? undefined : (JSON.parse(text) as SandboxCredentials);
  const loaded = kept ? { ...kept, directory: makeDirectory(kept.directory) } : await make();
  if (JSON.stringify(loaded) !== JSON.stringify(kept)) await saveCredentials(dataDir, loaded);
  return loaded;
}

export async function saveCredentials(dataDir: string, credentials: SandboxCredentials): Promise<void> {
  await writePrivateJson(join(dataDir, 'credentials.json'), credentials);
}

/**
 * Writes the two sides of our registration with the sandbox banks: what the banks know (`TPP_FILE`, public keys), what they
 * show of themselves (`SANDBOX_TLS_FILE`), and what the aggregator signs and comes with (`TPP_CREDENTIALS_FILE`, one entry an
 * institution).
 */
export async function writeTppFiles(
  dataDir: string,
  { tpp, directory }: SandboxCredentials,
  aggregatorUrl: string,
): Promise<TppFiles> {
  const { clientId, organisationId, softwareStatementId, kid, privateJwk } = tpp;
  const ca = directory.authority.certificate;
  const redirectUri = `${aggregatorUrl}/callback`;
  const { kty, n, e } = privateJwk;
  const registration = {
    clientId,
    name: 'Tributary',
    organisationId,
    softwareStatementId,
    // All of ours have the same.
    certificateSubject: Object.values(directory.tpp).map(distinguishedName)[0],
    organisationIdentifier: directory.organisationIdentifier,
    jwks: { keys: [{ kty, n, e, kid, alg: 'PS256', use: 'sig' }] },
    redirectUris: [redirectUri],
    banks,
  };
  const signingKey = { ...privateJwk, kid, alg: 'PS256' };
  const usual = { clientId, organisationId, softwareStatementId, redirectUri, kid, signingKey };
  const credentials = banks.map((bank) => {
    const transport = { ...directory.tpp[bank], ca };
    return [`${bank}-sandbox`, { ...usual, transport, ipAddress: '127.0.0.1' }];
  });
  const files = {
    tppFile: join(dataDir, 'sandbox', 'tpp.json'),
    tlsFile: join(dataDir, 'sandbox', 'tls.json'),
    tppCredentialsFile: join(dataDir, 'tpp-credentials.json'),
  };
  await writePrivateJson(files.tppFile, [registration]);
  await writePrivateJson(files.tlsFile, { ...directory.sandbox, ca });
  await writePrivateJson(files.tppCredentialsFile, Object.fromEntries(credentials));
  return files;
}
