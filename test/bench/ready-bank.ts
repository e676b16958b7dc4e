import { type Spawned, spawned } from './spawned.js';

/** Rows in one page of the bank; a thousand rows are four pages. */
export const bankPageRows = 250;

/**
 * A bank that does nothing but hand out pages that were made when it started, as UK Open Banking v4.0 has them: the account
 * `rows-100` has a hundred rows. `/reads` tells how many pages were read so far.
 */
const program = `
  import { createServer } from 'node:http';
  const pageRows = Number(process.argv[1]);
  const rowOf = (account, n) => {
    const at = new Date(Date.UTC(2026, 10, 20) - n * 6_000_000).toISOString().slice(0, 19) + '+00:00';
    const amount = ((n * 7919) % 90_000 / 100 + 1).toFixed(2);
    return {
      AccountId: account,
      TransactionId: 'bank-' + n,
      TransactionReference: 'CARD ' + (n % 211),
      CreditDebitIndicator: n % 9 === 0 ? 'Credit' : 'Debit',
      Status: 'BOOK',
      TransactionMutability: 'Immutable',
      BookingDateTime: at,
      ValueDateTime: at,
      Amount: { Amount: amount, Currency: 'GBP' },
      BankTransactionCode: { Code: 'CCRD', SubCode: 'POSD' },
      ProprietaryBankTransactionCode: { Code: 'DEB', Issuer: 'Meridian Bank' },
      TransactionInformation: 'Purchase ' + n + ' at the corner shop on the high street',
      Balance: { CreditDebitIndicator: 'Credit', Type: 'ITBD', Amount: { Amount: (1000 + n % 500).toFixed(2), Currency: 'GBP' } },
      MerchantDetails: { MerchantName: 'Corner Shop', MerchantCategoryCode: '5411' },
      CardInstrument: { CardSchemeName: 'MasterCard', AuthorisationType: 'Contactless' },
    };
  };
  const made = new Map();
  let reads = 0;
  const pageOf = (url) => {
    const known = made.get(url.href);
    if (known) return known;
    const account = url.pathname.split('/').at(-2);
    const [total, page] = [Number(account.split('-')[1]), Number(url.searchParams.get('page') ?? 1)];
    const rows = Array.from({ length: Math.min(pageRows, total - (page - 1) * pageRows) }, (_, n) => rowOf(account, n + (page - 1) * pageRows));
    const next = page * pageRows < total ? { Next: url.origin + url.pathname + '?page=' + (page + 1) } : {};
    const body = { Data: { Transaction: rows }, Links: { Self: url.href, ...next }, Meta: { TotalPages: Math.ceil(total / pageRows) } };
    const text = Buffer.from(JSON.stringify(body));
    made.set(url.href, text);
    return text;
  };
  const server = createServer((request, response) => {
    const url = new URL(request.url, origin);
    const isRead = url.pathname.endsWith('/transactions');
    if (isRead) reads += 1;
    const body = isRead ? pageOf(url) : Buffer.from(JSON.stringify({ reads }));
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length });
    response.end(body);
  });
  let origin;
  server.listen(0, '127.0.0.1', () => {
    origin = 'http://127.0.0.1:' + server.address().port;
    console.log('ready ' + origin);
  });
`;

/** Starts it; `said` is its origin. */
export function startReadyBank(): Promise<Spawned> {
  const args = ['--input-type=module', '-e', program, String(bankPageRows)];
  return spawned(args, { ready: /^ready (\S+)\n/m });
}

/** How many pages the bank has handed out since it started. */
export async function bankReads(origin: string): Promise<number> {
  const answer = await fetch(`${origin}/reads`);
  return ((await answer.json()) as { reads: number }).reads;
}
