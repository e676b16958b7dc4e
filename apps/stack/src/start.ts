import { join } from 'node:path';
import pc from 'picocolors';
import { readSettings, refuseProduction } from './config.js';
import { writePrivateJson } from './credentials.js';
import { msSinceCommand } from './resident-memory.js';
import { findRunningStack, type Stack, startStack } from './stack.js';

function print(stack: Stack, readyMs: number): void {
  const row = (name: string, value: string): void => console.log(`  ${pc.dim(name.padEnd(20))} ${value}`);
  console.log(`\n${pc.bold('Tributary')} runs. Ctrl-C stops it; the data stays in place.\n`);
  row('aggregator', `${stack.aggregator}  (reference at ${stack.aggregator}/docs)`);
  row('BFF', `${stack.bff}  (reference at ${stack.bff}/docs)`);
  row('reference page', `${stack.bff}  (paste the merchant API key)`);
  row('sandbox bank', `${stack.sandbox}  (banks, logins, clock, faults)`);
  row('application id', stack.application.id);
  row('application secret', stack.application.secret);
  row('merchant API key', `${stack.merchant.apiKey}  (${stack.merchant.name})`);
  row('started in', `${(readyMs / 1000).toFixed(1)} s`);
  console.log(`\nNext: open the reference page, or ${pc.bold('npm run demo')} in another terminal.\n`);
  console.log(`ready aggregator=${stack.aggregator} bff=${stack.bff} sandbox=${stack.sandbox}`);
}

async function main(): Promise<void> {
  refuseProduction();
  const settings = readSettings();
  const running = await findRunningStack(settings.dataDir);
  if (running) throw new Error(`A stack on this data already runs at ${running.bff} (process ${running.pid})`);
  const stack = await startStack(settings);
  const readyMs = Math.round(await msSinceCommand());
  const { programs, stop, ...file } = stack;
  await writePrivateJson(join(settings.dataDir, 'stack.json'), { ...file, readyMs });
  print(stack, readyMs);

  let stopping: Promise<void> | undefined;
  const finish = (code: number): void => {
    stopping ??= stop().then(() => process.exit(code));
  };
  // Ctrl-C may arrive twice, from the terminal and again through npm: the second must not cut the stop short.
  process.on('SIGINT', () => finish(0)).on('SIGTERM', () => finish(0));
  for (const { name, ended } of programs) {
    void ended.then(({ code, lastLines }) => {
      if (stopping) return;
      console.error(`${name} ended unexpectedly with code ${code}:\n${lastLines}`);
      finish(1);
    });
  }
}

main().catch((error: Error) => {
  console.error(error.message);
  process.exit(1);
});
