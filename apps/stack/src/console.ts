import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { loadCredentials } from './credentials.js';
import { readSettings } from './config.js';
import { findRunningStack } from './stack.js';

/** Which program's own console serves a command group. */
const programs: Record<string, 'aggregator' | 'bff'> = {
  applications: 'aggregator',
  institutions: 'aggregator',
  deliveries: 'aggregator',
  merchants: 'bff',
  customers: 'bff',
  rules: 'bff',
  events: 'bff',
  webhooks: 'bff',
};

const usage = `Usage: npm run console -- <group> <command> [options]

  applications   create, list, rotate-secret
  institutions   list
  deliveries     dead, replay      webhooks that the aggregator sends
  merchants      create, list
  customers      deletions         and what no bank has confirmed
  rules          set, list         what one institution wants otherwise than its country's law
  events         dead, parked, replay, rotate-secret   webhooks that the BFF received
  webhooks       dead, replay, verify   webhooks that the BFF sends to merchants; a signature explained

Add --help to a group for its commands. A running sandbox stack is found by itself;
elsewhere the program's own variables (DATABASE_URL, SEALING_KEYS, …) are used.`;

/** The variables of a running sandbox stack; none when the operator has set a database of their own. */
async function sandboxVariables(program: 'aggregator' | 'bff'): Promise<Record<string, string>> {
  if (process.env['DATABASE_URL']) return {};
  const { dataDir } = readSettings();
  const stack = await findRunningStack(dataDir);
  if (!stack) throw new Error('No sandbox stack is running here and DATABASE_URL is not set');
  const credentials = await loadCredentials(dataDir);
  return {
    DATABASE_URL: stack.databaseUrl,
    AGGREGATOR_URL: stack.aggregator,
    BFF_URL: stack.bff,
    SANDBOX_URL: stack.sandbox,
    SANDBOX_TLS_URL: stack.sandboxTls,
    AGGREGATOR_APPLICATION_ID: stack.application.id,
    AGGREGATOR_APPLICATION_SECRET: stack.application.secret,
    SESSION_KEY: credentials.sessionKey,
    OPERATOR_KEY: credentials.operatorKey,
    SEALING_KEYS: program === 'bff' ? credentials.bffSealingKeys : credentials.sealingKeys,
    TPP_CREDENTIALS_FILE: join(dataDir, 'tpp-credentials.json'),
  };
}

async function main([group = '', ...rest]: string[]): Promise<number> {
  const program = programs[group];
  if (!program) {
    console.log(usage);
    return group === '' || group === '--help' ? 0 : 1;
  }
  const child = spawn(process.execPath, [join('dist', program, 'console.mjs'), group, ...rest], {
    stdio: 'inherit',
    env: { ...process.env, ...(await sandboxVariables(program)) },
  });
  return new Promise((done) => child.once('close', (code) => done(code ?? 1)));
}

main(process.argv.slice(2)).then(
  (code) => process.exit(code),
  (error: Error) => {
    console.error(error.message);
    process.exit(1);
  },
);
