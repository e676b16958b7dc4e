import { startSandbox } from './app.js';
import { readCertificates, readEnv } from './config.js';
import { readTpps } from './tpps.js';

async function main(): Promise<void> {
  const env = readEnv();
  const tpps = env.TPP_FILE === '' ? [] : readTpps(env.TPP_FILE);
  const sandbox = await startSandbox({
    host: env.host,
    plain: { port: env.SANDBOX_PORT, url: env.SANDBOX_URL },
    secure: { port: env.SANDBOX_TLS_PORT, url: env.SANDBOX_TLS_URL, ...readCertificates(env.SANDBOX_TLS_FILE) },
    file: env.ledgerFile,
    tpps,
    hasControl: env.hasControl,
    log: (entry) => process.stdout.write(`${JSON.stringify(entry)}\n`),
  });
  process.stdout.write(
    `${JSON.stringify({ level: 'info', name: 'sandbox-bank', msg: 'listening', url: sandbox.url, tlsUrl: sandbox.tlsUrl })}\n`,
  );
  const end = (): void => void sandbox.close().then(() => process.exit(0));
  process.once('SIGTERM', end).once('SIGINT', end);
  // Started by a launcher, the bank ends with it, however that one ended.
  if (process.connected) process.once('disconnect', end);
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : 'The sandbox bank cannot start'}\n`);
  process.exitCode = 1;
});
