import { ClientError } from '#libs/client';
import { Problem } from '#libs/contract';
import { refusalOf } from './refusal.js';

describe('a refusal of the aggregator', () => {
  it('because of the institution says how long that wants to be left alone', () => {
    const refused = { operation: 'getAccounts', message: 'refused with 424', status: 424, retryable: false };
    const told = [60, undefined].map((retryAfter) => refusalOf(new ClientError({ ...refused, retryAfter })));
    expect(told.map((each) => each instanceof Problem && [each.status, each.headers])).toEqual([
      [424, { 'retry-after': '60' }],
      [424, {}],
    ]);
  });
});
