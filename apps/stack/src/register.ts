import { loadCredentials, writeTppFiles } from './credentials.js';
import { readSettings } from './config.js';

/**
 * Registers the aggregator with the sandbox banks where the programs run in containers of their own: writes both sides of the
 * registration into `DATA_DIR`, with keys that are made once and kept. `npm start` does this by itself.
 */
async function register(aggregatorUrl: string | undefined): Promise<void> {
  if (aggregatorUrl === undefined || !URL.canParse(aggregatorUrl)) {
    throw new Error('Usage: register <public address of the aggregator>');
  }
  const { dataDir } = readSettings();
  const files = await writeTppFiles(dataDir, await loadCredentials(dataDir), aggregatorUrl);
  console.log(`wrote ${Object.values(files).join(', ')}`);
}

register(process.argv[2]).catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
