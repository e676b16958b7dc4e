// Writes the two Prisma clients into libs/database/src/generated, where their schema files are newer than what is there.
// Plain JavaScript: it runs before there is a build.
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const cli = join(root, 'node_modules/prisma/build/index.js');

/** The latest modification, in epoch milliseconds, of the files that decide what is generated for `program`. */
function newestSource(program) {
  const models = join(root, 'prisma', program, 'models');
  const files = readdirSync(models).map((name) => join(models, name));
  files.push(models, join(root, 'prisma', program, 'schema.prisma'), join(root, 'package-lock.json'));
  return Math.max(...files.map((file) => statSync(file).mtimeMs));
}

function generate(program) {
  const output = join(root, 'libs/database/src/generated', program);
  const stamp = join(output, '.generated');
  const started = new Date();
  const source = newestSource(program);
  if (!process.argv.includes('--force') && existsSync(stamp) && statSync(stamp).mtimeMs >= source)
    return Promise.resolve(0);
  // The generator needs no schema engine, but the CLI insists on one and would download it.
  const env = {
    ...process.env,
    PRISMA_SCHEMA_ENGINE_BINARY: '/bin/true',
    PRISMA_HIDE_UPDATE_MESSAGE: '1',
    CHECKPOINT_DISABLE: '1',
  };
  const child = spawn(process.execPath, [cli, 'generate', '--schema', join('prisma', program), '--no-hints'], {
    cwd: root,
    env,
  });
  let said = '';
  child.stdout.on('data', (chunk) => (said += chunk));
  child.stderr.on('data', (chunk) => (said += chunk));
  return new Promise((resolve) => {
    child.on('close', (code) => {
      if (code === 0) {
        writeFileSync(stamp, '');
        utimesSync(stamp, started, started);
      } else process.stderr.write(`prisma generate failed for ${program}:\n${said}\n`);
      if (code !== 0) rmSync(stamp, { force: true });
      resolve(code ?? 1);
    });
  });
}

const codes = await Promise.all(['aggregator', 'bff'].map(generate));
process.exit(codes.find((code) => code !== 0) ?? 0);
