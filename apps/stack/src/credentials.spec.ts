import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { now, resetClock, setClock } from '#libs/server';
import { loadCredentials, writeTppFiles } from './credentials.js';

let dataDir: string;
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'credentials-'));
});
afterEach(async () => {
  resetClock();
  await rm(dataDir, { recursive: true });
});

const later = (days: number): Date => new Date(now().getTime() + days * 86_400_000);

it('are made once, and kept where only their owner reads them', async () => {
  const made = await loadCredentials(dataDir);
  expect(await loadCredentials(dataDir)).toEqual(made);
  const files = await writeTppFiles(dataDir, made, 'http://localhost:3000');
  for (const file of [join(dataDir, 'credentials.json'), ...Object.values(files)])
    expect((await stat(file)).mode & 0o777).toBe(0o600);
});

it('give every institution a certificate of its own, with which the banks know us', async () => {
  const made = await loadCredentials(dataDir);
  const files = await writeTppFiles(dataDir, made, 'http://localhost:3000');
  const read = async <T>(file: string): Promise<T> => JSON.parse(await readFile(file, 'utf8')) as T;
  const [tpp] = await read<{ certificateSubject: string; organisationIdentifier: string }[]>(files.tppFile);
  const ours = await read<Record<string, { transport: { certificate: string } }>>(files.tppCredentialsFile);
  const certificates = Object.values(ours).map(({ transport }) => transport.certificate);
  expect(new Set(certificates).size).toBe(8);
  expect(tpp?.organisationIdentifier).toMatch(/^PSDGB-FCA-\d{6}$/);
  expect(tpp?.certificateSubject).toContain(`organizationIdentifier=${tpp?.organisationIdentifier}`);
  expect(JSON.stringify(await read(files.tlsFile))).not.toContain(made.directory.authority.key.split('\n')[1]);
});

it('renew certificates in time, and everything with an authority that ends', async () => {
  const made = await loadCredentials(dataDir);
  const inTime = later(340);
  setClock(() => inTime);
  const renewed = await loadCredentials(dataDir);
  expect(renewed.directory.authority).toEqual(made.directory.authority);
  expect(renewed.directory.tpp['meridian']).not.toEqual(made.directory.tpp['meridian']);
  expect(renewed.directory.sandbox).not.toEqual(made.directory.sandbox);
  const { directory: _before, ...others } = made;
  expect(renewed).toMatchObject(others);
  const atTheEnd = later(3_300);
  setClock(() => atTheEnd);
  const { authority, organisationIdentifier } = (await loadCredentials(dataDir)).directory;
  expect(authority).not.toEqual(made.directory.authority);
  expect(organisationIdentifier).toBe(made.directory.organisationIdentifier);
});

it('of a sandbox that knew no certificates get them', async () => {
  const { directory: _absent, ...older } = await loadCredentials(dataDir);
  await writeFile(join(dataDir, 'credentials.json'), JSON.stringify(older));
  const { directory, ...kept } = await loadCredentials(dataDir);
  expect(kept).toEqual(older);
  expect(Object.keys(directory.tpp)).toHaveLength(8);
});
