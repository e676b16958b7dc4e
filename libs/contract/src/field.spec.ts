import 'reflect-metadata';
import { plainToInstance } from 'class-transformer';
import { validateSync } from 'class-validator';
import * as fc from 'fast-check';
import { DateTime, Text, Url } from './field.js';

class Form {
  @Text({ optional: true, maxLength: 2 }) short?: string;
  @Url({ optional: true }) url?: string;
  @Url({ optional: true, httpsOnly: true }) secure?: string;
  @DateTime({ optional: true }) at?: string;
}

class Query {
  @DateTime({ optional: true, query: true }) from?: string;
}

/** What is told of each member that is refused. */
function refusals(type: new () => object, values: object): string[] {
  const errors = validateSync(plainToInstance(type, values), { forbidUnknownValues: false });
  return errors.flatMap(({ constraints = {} }) => Object.values(constraints).slice(-1));
}

it.each([
  'http://localhost',
  'http://127.0.0.1:3000/callback',
  'http://[::1]:3000',
  'https://app.example/path?filter[a]=1&b={c}#d',
  'https://user:secret@app.example',
  'https://xn--mnchen-3ya.example',
])('%s is an address', (url) => {
  expect(refusals(Form, { url })).toEqual([]);
});

it.each([
  '',
  'app.example',
  'ftp://app.example',
  'https://',
  'https://app..example',
  'https://app.example:65536',
  'https://256.1.1.1',
  'https://1.2.3',
  'https://app example',
  'https://app.example/\u0000',
  `https://app.example/${'x'.repeat(2084)}`,
])('%j is none', (url) => {
  expect(refusals(Form, { url })).toEqual(['url must be an absolute http or https URL']);
});

it('takes for an address only what can be parsed as one', () => {
  const piece = fc.constantFrom(...'ab019-_.:/@[]%?', 'xn--', '0x', '1.', '.com', ':80', '255');
  const addresses = fc.array(piece, { minLength: 1, maxLength: 8 }).map((pieces) => `http://${pieces.join('')}`);
  fc.assert(
    fc.property(addresses, (url) => {
      expect(URL.canParse(url) || refusals(Form, { url }).length > 0).toBe(true);
    }),
    { numRuns: 2000 },
  );
});

it('wants https where only https will do', () => {
  expect(refusals(Form, { secure: 'https://app.example' })).toEqual([]);
  expect(refusals(Form, { secure: 'http://app.example' })).toEqual(['secure must be an absolute https URL']);
});

it('counts characters, not the units they take', () => {
  expect(refusals(Form, { short: '😀😀' })).toEqual([]);
  expect(refusals(Form, { short: '😀😀😀' })).toEqual(['short must have 1 to 2 characters']);
  expect(refusals(Form, { short: 12 })).toEqual(['short must be a string']);
});

it('reads a date-time whose plus sign became a space in an address, and in an address only', () => {
  const query = { from: '2024-01-01T00:00:00.000 0100' };
  expect(refusals(Query, query)).toEqual([]);
  expect(plainToInstance(Query, query).from).toBe('2024-01-01T00:00:00.000+0100');
  expect(refusals(Form, { at: query.from })).toHaveLength(1);
});
