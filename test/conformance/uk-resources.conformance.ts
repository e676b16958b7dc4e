import {
  AccountStatement,
  Beneficiary,
  DirectDebitResponse,
  Identity,
  PaymentResponse,
  type Feature,
} from '#libs/contract';
import { operation, type Grant, type Operations } from '#libs/connectors';
import { bankUnderTest, type BankUnderTest } from '../support/bank-under-test.js';
import { expectShape } from '../support/expect-shape.js';
import { startSandboxBank, type SandboxBank } from '../support/sandbox.js';

/** What UK accounts have besides balances and transactions, over every institution of the sandbox that has it. */

let sandbox: SandboxBank;
beforeAll(async () => {
  sandbox = await startSandboxBank();
});
afterAll(() => sandbox.close());
afterEach(() => sandbox.calm());

const failing = (kind: string, more: object = {}) =>
  expect.objectContaining({ name: 'InstitutionError', kind, ...more });
const scope: Feature[] = [
  'ACCOUNTS',
  'ACCOUNT_STATEMENTS',
  'ACCOUNT_STATEMENT',
  'ACCOUNT_STATEMENT_FILE',
  'ACCOUNT_BENEFICIARIES',
  'ACCOUNT_DIRECT_DEBITS',
  'ACCOUNT_PERIODIC_PAYMENTS',
  'ACCOUNT_SCHEDULED_PAYMENTS',
  'IDENTITY',
];

describe.each(['meridian-sandbox', 'thistle-sandbox'])('more of an account at %s', (id) => {
  let bank: BankUnderTest;
  let grant: Grant;
  let accountId: string;
  beforeAll(async () => {
    bank = bankUnderTest(sandbox, { id, scope, deadlineMs: 3_500 });
    grant = await bank.consent();
    const { banks } = await sandbox.state();
    accountId = banks.find(({ id: name }) => name === bank.name)?.personas[0]?.accounts[0]?.id ?? '';
  });
  afterAll(() => bank.close());

  type Listed = 'ACCOUNT_BENEFICIARIES' | 'ACCOUNT_DIRECT_DEBITS' | 'ACCOUNT_PERIODIC_PAYMENTS';
  const list = <F extends Listed | 'ACCOUNT_SCHEDULED_PAYMENTS'>(feature: F, of = grant) =>
    operation(bank.connector, feature)(bank.under(of), accountId) as ReturnType<Operations[F]>;
  const statements = (range = {}, of = grant) =>
    operation(bank.connector, 'ACCOUNT_STATEMENTS')(bank.under(of), accountId, range);
  const file = (statementId: string, of = grant) =>
    operation(bank.connector, 'ACCOUNT_STATEMENT_FILE')(bank.under(of), accountId, statementId);

  it('lists payees, and which of them are trusted', async () => {
    const payees = await list('ACCOUNT_BENEFICIARIES');
    for (const payee of payees) expectShape(Beneficiary, payee);
    expect(payees.some(({ trusted }) => trusted)).toBe(true);
    expect(payees[0]?.payee).toMatchObject({
      name: expect.any(String),
      accountIdentifications: [{ type: 'SORT_CODE' }, { type: 'ACCOUNT_NUMBER' }],
    });
  });

  it('lists direct debits with what they took last', async () => {
    const debits = await list('ACCOUNT_DIRECT_DEBITS');
    for (const debit of debits) expectShape(DirectDebitResponse, debit);
    expect(debits[0]).toMatchObject({
      statusDetails: { status: 'ACTIVE' },
      payeeDetails: { name: expect.any(String) },
      previousPaymentAmount: { amount: expect.any(Number), currency: 'GBP' },
    });
  });

  it('lists standing orders with their rhythm', async () => {
    const orders = await list('ACCOUNT_PERIODIC_PAYMENTS');
    for (const order of orders) expectShape(PaymentResponse, order);
    expect(orders[0]).toMatchObject({
      status: 'ACTIVE',
      payeeDetails: { name: expect.any(String) },
      frequency: { frequencyType: expect.any(String) },
      nextPaymentAmount: { currency: 'GBP' },
      nextPaymentDateTime: expect.stringMatching(/Z$/),
    });
  });

  it('lists scheduled payments', async () => {
    const scheduled = await list('ACCOUNT_SCHEDULED_PAYMENTS');
    for (const payment of scheduled) expectShape(PaymentResponse, payment);
    expect(scheduled[0]).toMatchObject({ scheduledPaymentType: 'EXECUTION', amountDetails: { currency: 'GBP' } });
  });

  it('knows who logged in', async () => {
    const identity = await operation(bank.connector, 'IDENTITY')(bank.under(grant));
    expectShape(Identity, identity);
    expect(identity.fullName).toMatch(/^Ada /);
  });

  it('lists statements, all or of a window, and finds each again', async () => {
    const { items } = await statements();
    for (const statement of items) expectShape(AccountStatement, statement);
    const [, second, third] = items;
    const window = { from: new Date(third!.startDateTime!), before: new Date(second!.endDateTime!) };
    expect((await statements(window)).items).toEqual([second, third]);
    const one = operation(bank.connector, 'ACCOUNT_STATEMENT')(bank.under(grant), accountId, second!.id);
    expect(await one).toEqual(second);
    const none = operation(bank.connector, 'ACCOUNT_STATEMENT')(bank.under(grant), accountId, 'none');
    await expect(none).rejects.toEqual(failing('not-found'));
  });

  it('gives a statement as the document that the bank sent', async () => {
    const [latest] = (await statements()).items;
    const { contentType, body } = await file(latest!.id);
    expect(contentType).toBe('application/pdf');
    expect(Buffer.from(body).subarray(0, 5).toString()).toBe('%PDF-');
    await expect(file('none')).rejects.toEqual(failing('not-found'));
    await expect(file('..')).rejects.toEqual(failing('not-found'));
  });

  it('refuses what the consent was not for', async () => {
    const narrow = bankUnderTest(sandbox, { id, scope: ['ACCOUNTS', 'ACCOUNT_STATEMENTS'] });
    const own = await narrow.consent();
    const { items } = await statements({}, own);
    await expect(file(items[0]!.id, own)).rejects.toEqual(failing('rejected', { httpStatus: 403 }));
    await expect(list('ACCOUNT_BENEFICIARIES', own)).rejects.toEqual(failing('rejected', { httpStatus: 403 }));
    await expect(operation(bank.connector, 'IDENTITY')(bank.under(own))).rejects.toEqual(failing('rejected'));
    await narrow.close();
  });

  it('never takes a page of a gateway for a document or a list', async () => {
    const [latest] = (await statements()).items;
    await sandbox.fault({ bank: bank.name, fault: 'html' });
    await expect(file(latest!.id)).rejects.toEqual(failing('malformed'));
    await expect(list('ACCOUNT_DIRECT_DEBITS')).rejects.toEqual(failing('malformed'));
  });
});

it.each(['meridian-sandbox', 'tamar-sandbox', 'thistle-sandbox'])(
  '%s links the first page from the second',
  async (id) => {
    const bank = bankUnderTest(sandbox, { id });
    const grant = await bank.consent();
    const { banks } = await sandbox.state();
    const accounts = banks.find(({ id: name }) => name === bank.name)?.personas[0]?.accounts ?? [];
    const [{ id: accountId } = { id: '' }] = accounts.toSorted((a, b) => b.transactions - a.transactions);
    const page = (cursor?: string) =>
      operation(bank.connector, 'ACCOUNT_TRANSACTIONS')(bank.under(grant), accountId, cursor ? { cursor } : {});
    const one = await page();
    const two = await page(one.next);
    expect(two.items).not.toEqual(one.items);
    expect((await page(two.first)).items).toEqual(one.items);
    await bank.close();
  },
);

describe.each(['meridian-sandbox', 'tamar-sandbox', 'thistle-sandbox'])('the state of a consent at %s', (id) => {
  let bank: BankUnderTest;
  beforeAll(() => {
    bank = bankUnderTest(sandbox, { id });
  });
  afterAll(() => bank.close());
  const stateOf = (grant: Grant) => bank.connector.status!(bank.under(grant));

  it('is what the bank says: awaiting, authorised, revoked', async () => {
    const { pending } = await bank.begin();
    expect(await stateOf(pending)).toBe('awaiting');
    const grant = await bank.consent();
    expect(await stateOf(grant)).toBe('authorised');
    await bank.connector.revoke(bank.under(grant));
    expect(await stateOf(grant)).toBe('revoked');
  });

  it('is rejected when the PSU refused', async () => {
    const { url, pending } = await bank.begin();
    await bank.connector.proceed(bank.call(), pending, { callback: await sandbox.visit(url, { decision: 'deny' }) });
    expect(await stateOf(pending)).toBe('rejected');
  });

  it('is known of a payment too', async () => {
    const payment = bank.payment();
    expect(await stateOf((await bank.beginPayment(payment)).pending)).toBe('awaiting');
    expect(await stateOf(await bank.authorisedPayment(payment))).toBe('authorised');
  });
});
