// Builds the bundles under dist/, unless they are newer than every source file. Plain JavaScript: it runs before there is a build.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const stamp = 'dist/.built';
const roots = [
  'apps',
  'libs',
  'prisma',
  'test/bench',
  'test/screenshots',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
];

/** The latest modification, in epoch milliseconds, of any file at or below `path`. */
function newest(path) {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat) return 0;
  if (!stat.isDirectory()) return stat.mtimeMs;
  return Math.max(
    0,
    ...readdirSync(path)
      .filter((name) => name !== 'generated')
      .map((name) => newest(join(path, name))),
  );
}

function run(command, args, env = {}) {
  const { status } = spawnSync(command, args, {
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, ...env },
  });
  if (status !== 0) process.exit(status ?? 1);
}

const upToDate = existsSync(stamp) && statSync(stamp).mtimeMs >= Math.max(...roots.map(newest));
if (process.argv.includes('--force') || !upToDate) {
  const started = Date.now();
  run(process.execPath, ['prisma/generate.mjs']);
  run(process.execPath, [
    'node_modules/rolldown/bin/cli.mjs',
    '-c',
    'apps/stack/rolldown.config.mjs',
    '--logLevel',
    'warn',
  ]);
  writeFileSync(stamp, new Date(started).toISOString());
}
