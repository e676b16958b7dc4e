import { createServer } from 'node:http';
import { Pool } from 'undici';
import { defaults } from '../../libs/connectors/src/uk-open-banking/uk-open-banking.map.js';
import type { OBReadTransaction6 } from '../../libs/connectors/src/uk-open-banking/uk-open-banking.types.js';

/**
 * The least that a Node program can do for the same page of transactions: fetch the bank's pages, parse, map, stringify.
 * No framework, no credentials, no consent, no hash of a row, no checks; the mapping is the aggregator's own.
 */
const [bank = '', path = ''] = process.argv.slice(2);
const pool = new Pool(bank, { connections: 32 });
const headers = { authorization: 'Bearer token', accept: 'application/json' };

const server = createServer((_request, response) => {
  answer().then(
    (body) => response.writeHead(200, { 'content-type': 'application/json' }).end(body),
    (error: Error) => response.writeHead(500).end(error.message),
  );
});

async function answer(): Promise<string> {
  const data = [];
  for (let next: string | undefined = path; next !== undefined;) {
    const { body } = await pool.request({ method: 'GET', path: next, headers });
    const { Data, Links } = (await body.json()) as OBReadTransaction6;
    for (const row of Data.Transaction ?? []) {
      const transaction = defaults.toTransaction(row);
      if (transaction) data.push(transaction);
    }
    next = Links?.Next?.slice(bank.length);
  }
  return JSON.stringify({ meta: { count: data.length }, data });
}

server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (typeof address === 'object' && address) console.log(`ready http://127.0.0.1:${address.port}`);
});
