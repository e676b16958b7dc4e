import { InstitutionError } from './institution-error.js';

/** Reads made at once; more would look like an attack to a bank that counts. */
const READS_AT_ONCE = 4;

/** The work on every item, a few at a time, in the order of the items. */
async function inTurns<T, R>(items: T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  const queue = items.entries();
  const workers = Array.from({ length: Math.min(READS_AT_ONCE, items.length) }, async () => {
    for (const [index, item] of queue) results[index] = await work(item);
  });
  await Promise.all(workers);
  return results;
}

/**
 * `whole` of every account, each by itself: for one that the bank fails, `without` what was asked for (quirk Q26). When it
 * fails for all of them, or has something against the consent as a whole, that is the failure of the read. So is a 401
 * while the token `mayBeDead`: it is renewed first, and then everything is read again.
 */
export async function eachAccount<T, R>(
  accounts: T[],
  ways: { whole: (account: T) => Promise<R>; without: (account: T) => R; mayBeDead: boolean },
): Promise<R[]> {
  const { whole, without, mayBeDead } = ways;
  const faults: InstitutionError[] = [];
  const read = await inTurns(accounts, async (account) => {
    try {
      return await whole(account);
    } catch (fault) {
      if (!(fault instanceof InstitutionError) || isOfAll(fault)) throw fault;
      if (fault.httpStatus === 401 && mayBeDead) throw fault;
      faults.push(fault);
      return without(account);
    }
  });
  if (faults[0] && faults.length === accounts.length) throw faults[0];
  return read;
}

/** Asking for the next account would come to the same. */
function isOfAll({ kind }: InstitutionError): boolean {
  return kind === 'rate-limited' || kind === 'consent-gone';
}
