import { generateKeyPair, type JsonWebKey, randomBytes, randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

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
  merchant?: { id: string; name: string; apiKey: string };
}

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
  };
}

/** Writes JSON so that a crash leaves either the old or the new file, readable by its owner alone. */
export async function writePrivateJson(file: string, content: unknown): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(`${file}.new`, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
  await rename(`${file}.new`, file);
}

/** The sandbox's credentials: those of the last start, or new ones. */
export async function loadCredentials(dataDir: string): Promise<SandboxCredentials> {
  const file = join(dataDir, 'credentials.json');
  const kept = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (kept !== undefined) return JSON.parse(kept) as SandboxCredentials;
  const made = await make();
  await writePrivateJson(file, made);
  return made;
}

export async function saveCredentials(dataDir: string, credentials: SandboxCredentials): Promise<void> {
  await writePrivateJson(join(dataDir, 'credentials.json'), credentials);
}

/**
 * Writes the two sides of our registration with the sandbox banks: what the banks know (`TPP_FILE`, public keys)
 * and what the aggregator signs with (`TPP_CREDENTIALS_FILE`, one entry an institution).
 */
export async function writeTppFiles(
  dataDir: string,
  { tpp }: SandboxCredentials,
  aggregatorUrl: string,
): Promise<{ tppFile: string; tppCredentialsFile: string }> {
  const { clientId, organisationId, softwareStatementId, kid, privateJwk } = tpp;
  const redirectUri = `${aggregatorUrl}/callback`;
  const { kty, n, e } = privateJwk;
  const banks = ['meridian', 'tamar', 'thistle', 'lindenhof', 'marais', 'isarkasse', 'fjordbank', 'ticino'];
  const registration = {
    clientId,
    name: 'Tributary',
    organisationId,
    softwareStatementId,
    jwks: { keys: [{ kty, n, e, kid, alg: 'PS256', use: 'sig' }] },
    redirectUris: [redirectUri],
    banks,
  };
  const credentials = {
    clientId,
    organisationId,
    softwareStatementId,
    redirectUri,
    kid,
    signingKey: { ...privateJwk, kid, alg: 'PS256' },
    // Berlin Group knows a TPP by its certificate only; the sandbox takes this name instead.
    developmentIdentity: clientId,
  };
  const tppFile = join(dataDir, 'sandbox', 'tpp.json');
  const tppCredentialsFile = join(dataDir, 'tpp-credentials.json');
  await writePrivateJson(tppFile, [registration]);
  await writePrivateJson(tppCredentialsFile, Object.fromEntries(banks.map((bank) => [`${bank}-sandbox`, credentials])));
  return { tppFile, tppCredentialsFile };
}
