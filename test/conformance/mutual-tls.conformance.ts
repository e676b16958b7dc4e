import { operation, type Transport } from '#libs/connectors';
import { makeAuthority } from '../../apps/stack/src/certificates.js';
import { consentAt } from '../support/bank-reading.js';
import { bankUnderTest, type BankUnderTest } from '../support/bank-under-test.js';
import { makeTransport, tppSubject } from '../support/certificates.js';
import { startSandboxBank, type SandboxBank } from '../support/sandbox.js';

/** What becomes of consents and calls when our certificate is another one, at banks of each kind. */
let sandbox: SandboxBank;
const opened: BankUnderTest[] = [];
const at = (id: string, transport?: Transport): BankUnderTest => {
  const credentials = { ...sandbox.credentials, ...(transport ? { transport } : {}) };
  const bank = bankUnderTest({ ...sandbox, credentials }, { id });
  opened.push(bank);
  return bank;
};

beforeAll(async () => {
  sandbox = await startSandboxBank();
});
afterAll(async () => {
  await Promise.all(opened.map((each) => each.close()));
  await sandbox.close();
});

/** Ways of knowing us: bound tokens with an assertion and without, tokens that are not bound, no token, one of a pre-step. */
const kinds = ['meridian-sandbox', 'tamar-sandbox', 'thistle-sandbox', 'lindenhof-sandbox', 'marais-sandbox'];
const binding = new Set(['meridian-sandbox', 'tamar-sandbox', 'marais-sandbox']);

describe.each(kinds)('at %s', (id) => {
  it('a renewed certificate leaves consents in use, and a bound token is renewed with it', async () => {
    const grant = await consentAt(sandbox, at(id));
    const renewed = at(id, makeTransport());
    const call = renewed.under(grant);
    expect((await operation(renewed.connector, 'ACCOUNTS')(call)).length).toBeGreaterThan(0);
    const isBound = binding.has(id);
    expect(call.kept).toHaveLength(isBound ? 1 : 0);
    expect(renewed.reports.filter(({ status }) => status === 401)).toHaveLength(isBound ? 1 : 0);
    // What was kept goes on working, without another word.
    const later = renewed.under(call.grant);
    await operation(renewed.connector, 'ACCOUNTS')(later);
    expect(later.kept).toEqual([]);
  });

  it.each([
    ['no', undefined],
    [
      'a foreign authority’s',
      () => makeTransport(tppSubject, { authority: makeAuthority({ commonName: 'Elsewhere' }) }),
    ],
    ['an expired', () => makeTransport(tppSubject, { fromDay: -30, untilDay: -1 })],
  ])('%s certificate is refused, and the consent is not thought to be gone', async (_kind, make) => {
    const grant = await consentAt(sandbox, at(id));
    const { certificate: _c, key: _k, ...trust } = sandbox.credentials.transport ?? makeTransport();
    const nobody = { ...trust, certificate: '', key: '' };
    const refused = at(id, make?.() ?? nobody);
    await expect(operation(refused.connector, 'ACCOUNTS')(refused.under(grant))).rejects.toMatchObject({
      name: 'InstitutionError',
      kind: 'unauthorised',
      httpStatus: 401,
    });
  });

  it('is not believed under a certificate that nobody we trust has signed', async () => {
    const ca = makeAuthority({ commonName: 'Elsewhere' }).certificate;
    const doubting = at(id, { ...makeTransport(), ca });
    await expect(doubting.begin()).rejects.toMatchObject({ name: 'InstitutionError', kind: 'unavailable' });
  });
});
