/** Minor units to the standard's unsigned text (`^\d{1,13}\.\d{1,5}$`); the sign travels in the credit-debit indicator. */
export function toAmount(minor: number): string {
  const digits = String(Math.abs(minor)).padStart(3, '0');
  return `${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

/** Text of the standard to minor units; undefined when it is not an amount of whole pence above zero. */
export function toMinor(amount: string): number | undefined {
  const match = /^(\d{1,13})(?:\.(\d{1,5}))?$/.exec(amount);
  if (!match) return undefined;
  const fraction = (match[2] ?? '').padEnd(2, '0');
  if (/[1-9]/.test(fraction.slice(2))) return undefined;
  const minor = Number(`${match[1]}${fraction.slice(0, 2)}`);
  return minor > 0 && Number.isSafeInteger(minor) ? minor : undefined;
}

/** For people: `£1,234.56`, `−€20.00`. */
export function toDisplay(minor: number, currency: string): string {
  const symbol = { GBP: '£', EUR: '€' }[currency] ?? `${currency} `;
  const [whole, pence] = toAmount(minor).split('.');
  return `${minor < 0 ? '−' : ''}${symbol}${(whole ?? '').replace(/\B(?=(\d{3})+$)/g, ',')}.${pence}`;
}
