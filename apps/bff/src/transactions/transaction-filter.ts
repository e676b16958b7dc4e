import { parseDateTime, problems } from '#libs/contract';
import type { TransactionFilter } from './transaction.dto.js';

/** The conditions of one list, as SQL with its values, and what names the list. */
export interface Conditions {
  where: string;
  values: unknown[];
  /** Which filters there are: each combination is a statement of its own, planned once a connection. */
  name: string;
  /** The filters themselves, to which a cursor belongs. */
  list: unknown[];
}

type Condition = (place: (value: unknown) => string) => string;

/** What a list is limited to besides its customer, whose id is the first value. */
export function conditionsOf(customerId: string, filter: TransactionFilter, accountId?: string): Conditions {
  const values: unknown[] = [customerId];
  const place = (value: unknown): string => `$${values.push(value)}`;
  const wanted: (Condition | undefined)[] = [
    () => 'removed_at is null',
    // The account's own index serves its list; the customer is checked all the same.
    accountId === undefined ? undefined : () => `account_id = ${place(accountId)}`,
    ...filters(filter),
  ];
  const where = wanted.flatMap((condition) => condition?.(place) ?? []).join(' and ');
  const name = wanted.map((condition) => (condition ? 1 : 0)).join('');
  const { from, before, amountMin, amountMax, text, status, category, flagged } = filter;
  const list = [accountId, from, before, amountMin, amountMax, text, status, category, flagged];
  return { where, values, name, list };
}

function filters(filter: TransactionFilter): (Condition | undefined)[] {
  const { from, before, amountMin, amountMax, text, status, category, flagged } = filter;
  return [
    from === undefined ? undefined : (place) => `date >= ${place(instant('from', from))}`,
    before === undefined ? undefined : (place) => `date <= ${place(instant('before', before))}`,
    amountMin === undefined ? undefined : (place) => `amount >= ${place(String(amountMin))}::numeric`,
    amountMax === undefined ? undefined : (place) => `amount <= ${place(String(amountMax))}::numeric`,
    text === undefined ? undefined : (place) => saying(place(containing(text))),
    status === undefined ? undefined : (place) => `status = ${place(status)}`,
    category === undefined ? undefined : (place) => anyCode(category, place),
    flagged === undefined ? undefined : (place) => `(flag is not null) = ${place(flagged)}`,
  ];
}

function anyCode(category: string, place: (value: unknown) => string): string {
  const found = codes(category).map((code) => `strpos(wire, ${place(code)}) > 0`);
  return `(${found.join(' or ')})`;
}

function saying(pattern: string): string {
  return `(description ilike ${pattern} or reference ilike ${pattern})`;
}

/** The text anywhere, with nothing in it that a pattern would read as its own. */
function containing(text: string): string {
  return `%${text.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`;
}

/**
 * How a code stands in the stored JSON, which is compact: quotes inside of its texts are escaped, so nothing that a bank writes
 * there looks like it. Quicker than parsing, and it cannot fail.
 */
function codes(category: string): string[] {
  const value = JSON.stringify(category);
  return [`"merchantCategoryCode":${value}`, `"code":${value}`];
}

function instant(parameter: string, text: string): Date {
  const at = parseDateTime(text);
  if (!at) throw problems.unexpectedValue({ parameter, message: `${parameter} must be a date-time` });
  return at;
}
