import { describe, expect, it } from 'vitest';
import type { Account } from '#libs/contract';
import { identificationHash, identificationHashes, nameOf } from './account-identity.js';

const owner = { customerId: 'a-customer', institutionId: 'bank' };
const account: Account = {
  id: 'one',
  currency: 'GBP',
  accountIdentifications: [
    { type: 'SORT_CODE', identification: '200000' },
    { type: 'ACCOUNT_NUMBER', identification: '55779911' },
  ],
};

describe('what an account is', () => {
  it('does not change with the bank’s id, the order of its identifications or their spacing', () => {
    const reminted: Account = {
      ...account,
      id: 'two',
      accountIdentifications: [
        { type: 'ACCOUNT_NUMBER', identification: '5577 9911' },
        { type: 'SORT_CODE', identification: '20 00 00' },
      ],
    };
    expect(identificationHash(owner, reminted)).toBe(identificationHash(owner, account));
  });

  it('differs by currency, institution and customer', () => {
    const hashes = [
      identificationHash(owner, account),
      identificationHash(owner, { ...account, currency: 'EUR' }),
      identificationHash({ ...owner, institutionId: 'other' }, account),
      identificationHash({ ...owner, customerId: 'other' }, account),
    ];
    expect(new Set(hashes).size).toBe(4);
  });

  it('is the bank’s id where there is nothing else', () => {
    const { accountIdentifications: _none, ...bare } = account;
    expect(identificationHash(owner, bare)).not.toBe(identificationHash(owner, { ...bare, id: 'two' }));
  });

  it('stays two accounts when one answer holds two that look the same', () => {
    expect(new Set(identificationHashes(owner, [account, { ...account, id: 'two' }])).size).toBe(2);
  });

  it('has the name a person would use', () => {
    expect(nameOf({ ...account, nickname: 'Bills', description: 'Current account' })).toBe('Bills');
    expect(nameOf(account)).toBeUndefined();
  });
});
