/** An amount that cannot be carried exactly, or is not one. */
export class AmountError extends Error {
  override readonly name = 'AmountError';
}

/** Currencies of ISO 4217 whose minor unit is not the hundredth. */
const minorDigits: Readonly<Record<string, number>> = {
  ...Object.fromEntries(
    [
      'BIF',
      'CLP',
      'DJF',
      'GNF',
      'ISK',
      'JPY',
      'KMF',
      'KRW',
      'PYG',
      'RWF',
      'UGX',
      'UYI',
      'VND',
      'VUV',
      'XAF',
      'XOF',
      'XPF',
    ].map((code) => [code, 0]),
  ),
  ...Object.fromEntries(['BHD', 'IQD', 'JOD', 'KWD', 'LYD', 'OMR', 'TND'].map((code) => [code, 3])),
  ...Object.fromEntries(['CLF', 'UYW'].map((code) => [code, 4])),
};

/** How many decimals the minor unit of a currency has: 2 for most, 0 for JPY, 3 for KWD. */
export function decimalsOf(currency: string): number {
  return minorDigits[currency] ?? 2;
}

/**
 * A decimal text as the JSON number it becomes, exactly.
 * Throws AmountError when the text is not a plain decimal or when printing the number would not give the same value back.
 */
export function parseDecimal(text: string): number {
  const parts = split(text);
  const number = Number(text);
  if (canonical(split(plain(number))) !== canonical(parts)) {
    throw new AmountError('the amount does not survive as a JSON number');
  }
  return number === 0 ? 0 : number;
}

/**
 * A bank's amount text as a number for the wire and an integer for arithmetic.
 * `amount` is in major units, `amountMinor` in minor units of `currency` (hundredths when none is given).
 * Throws AmountError on anything inexact.
 */
export function parseAmount(text: string, currency?: string): { amount: number; amountMinor: bigint } {
  return { amount: parseDecimal(text), amountMinor: toMinor(text, currency) };
}

/** Integer minor units of an amount. Throws AmountError when it has a fraction of the minor unit. */
export function toMinor(amount: number | string, currency?: string): bigint {
  const { negative, whole, fraction } = split(typeof amount === 'number' ? plain(amount) : amount);
  const digits = currency === undefined ? 2 : decimalsOf(currency);
  const significant = fraction.replace(/0+$/, '');
  if (significant.length > digits)
    throw new AmountError(`the amount is finer than the minor unit of ${currency ?? 'most currencies'}`);
  const minor = BigInt(whole + significant.padEnd(digits, '0'));
  return negative ? -minor : minor;
}

/** The decimal text of an integer in minor units: `formatMinor(-1050n, 'GBP')` is `-10.50`. */
export function formatMinor(minor: bigint, currency?: string): string {
  const digits = currency === undefined ? 2 : decimalsOf(currency);
  const text = (minor < 0n ? -minor : minor).toString().padStart(digits + 1, '0');
  const whole = text.slice(0, text.length - digits);
  const fraction = text.slice(text.length - digits);
  return `${minor < 0n ? '-' : ''}${whole}${digits > 0 ? `.${fraction}` : ''}`;
}

/** The JSON number of an integer in minor units. */
export function fromMinor(minor: bigint, currency?: string): number {
  return parseDecimal(formatMinor(minor, currency));
}

interface Parts {
  negative: boolean;
  whole: string;
  fraction: string;
}

function split(text: string): Parts {
  const match = /^([+-]?)(\d{1,30})(?:\.(\d{1,30}))?$/.exec(text);
  if (!match) throw new AmountError('not a decimal amount');
  return { negative: match[1] === '-', whole: match[2] ?? '0', fraction: match[3] ?? '' };
}

/** The shortest decimal text of a number, without an exponent where one is avoidable. */
function plain(value: number): string {
  if (!Number.isFinite(value)) throw new AmountError('not a finite amount');
  const text = String(value);
  if (!text.includes('e')) return text;
  if (Math.abs(value) >= 1e21) throw new AmountError('the amount does not survive as a JSON number');
  const [mantissa = '', exponent = '0'] = text.replace(/^-/, '').split('e-');
  const digits = mantissa.replace('.', '');
  return `${value < 0 ? '-' : ''}0.${'0'.repeat(Number(exponent) - 1)}${digits}`;
}

function canonical({ negative, whole, fraction }: Parts): string {
  const integer = whole.replace(/^0+(?=\d)/, '');
  const rest = fraction.replace(/0+$/, '');
  const zero = integer === '0' && rest === '';
  return `${negative && !zero ? '-' : ''}${integer}${rest ? `.${rest}` : ''}`;
}
