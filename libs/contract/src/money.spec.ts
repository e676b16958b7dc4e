import * as fc from 'fast-check';
import { AmountError, decimalsOf, formatMinor, fromMinor, parseAmount, parseDecimal, toMinor } from './money.js';

const currency = fc.constantFrom('GBP', 'EUR', 'JPY', 'KWD', 'CLF');

it.each([
  ['10.50', 10.5, 1050n],
  ['-10.5', -10.5, -1050n],
  ['0.10', 0.1, 10n],
  ['00012', 12, 1200n],
  ['+3.00', 3, 300n],
  ['-0.00', 0, 0n],
  ['9007199254740.99', 9007199254740.99, 900719925474099n],
  ['1.2300000', 1.23, 123n],
])('reads %s', (text, amount, amountMinor) => {
  expect(parseAmount(text, 'GBP')).toEqual({ amount, amountMinor });
});

it.each(['', ' ', '1,00', '1.', '.5', '1e3', 'NaN', 'Infinity', '0x10', '1 000', '--1', '12.345.6', '٣'])(
  'refuses %j, which is not a decimal',
  (text) => {
    expect(() => parseAmount(text, 'GBP')).toThrow(AmountError);
  },
);

it.each(['9007199254740993', '0.1234567890123456789', '123456789012345678.99'])(
  'refuses %s, which a JSON number cannot carry',
  (text) => {
    expect(() => parseDecimal(text)).toThrow(AmountError);
  },
);

it('refuses a fraction of the minor unit', () => {
  expect(() => toMinor('1.001', 'GBP')).toThrow(AmountError);
  expect(() => toMinor(0.1 + 0.2, 'GBP')).toThrow(AmountError);
  expect(() => toMinor('1.5', 'JPY')).toThrow(AmountError);
  expect(toMinor('1.001', 'KWD')).toBe(1001n);
});

it('knows the minor units that are not hundredths', () => {
  expect(['GBP', 'JPY', 'KWD', 'CLF', 'XXX'].map(decimalsOf)).toEqual([2, 0, 3, 4, 2]);
});

it('reads numbers that print with an exponent', () => {
  expect(() => toMinor(1e-7, 'GBP')).toThrow(AmountError);
  expect(() => toMinor(1e21, 'GBP')).toThrow(AmountError);
  expect(parseDecimal('0.0000001')).toBe(1e-7);
});

it('brings every amount in minor units back unchanged through the JSON number', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(10n ** 14n), max: 10n ** 14n }), currency, (minor, code) => {
      const text = formatMinor(minor, code);
      const wire = JSON.parse(JSON.stringify(parseAmount(text, code).amount)) as number;
      expect(toMinor(text, code)).toBe(minor);
      expect(toMinor(wire, code)).toBe(minor);
      expect(toMinor(fromMinor(minor, code), code)).toBe(minor);
    }),
  );
});

/** The value of a plain decimal text as an integer in units of 10^-30. */
function scaled(text: string): bigint {
  const [whole = '', fraction = ''] = text.replace('-', '').split('.');
  return BigInt(whole + fraction.padEnd(30, '0')) * (text.startsWith('-') ? -1n : 1n);
}

it('answers the same value or refuses', () => {
  const answered = (text: string): bigint | 'refused' => {
    try {
      const printed = String(parseDecimal(text));
      return printed.includes('e') ? scaled(text) : scaled(printed);
    } catch (error) {
      if (error instanceof AmountError) return 'refused';
      throw error;
    }
  };
  fc.assert(
    fc.property(fc.stringMatching(/^-?\d{1,25}(\.\d{1,25})?$/), (text) => {
      expect([scaled(text), 'refused']).toContain(answered(text));
    }),
  );
});
