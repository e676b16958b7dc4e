import { operation, type Grant } from '#libs/connectors';
import { bankUnderTest, newState, type BankUnderTest } from '../support/bank-under-test.js';
import { startSandboxBank, type SandboxBank } from '../support/sandbox.js';

/** Domestic payments over every institution that the sandbox plays. */

let sandbox: SandboxBank;
beforeAll(async () => {
  sandbox = await startSandboxBank();
});
afterAll(() => sandbox.close());
afterEach(() => sandbox.calm());

const failing = (kind: string, more: object = {}) =>
  expect.objectContaining({ name: 'InstitutionError', kind, ...more });
const orders = 'POST /pisp/domestic-payments';

describe.each(['meridian-sandbox', 'tamar-sandbox', 'thistle-sandbox'])('payments at %s', (id) => {
  let bank: BankUnderTest;
  beforeAll(() => {
    bank = bankUnderTest(sandbox, { id, deadlineMs: 3_500 });
  });
  afterAll(() => bank.close());

  const pay = (grant: Grant, payment = asked, key = newState()) =>
    operation(bank.connector, 'CREATE_DOMESTIC_SINGLE_PAYMENT')(bank.under(grant), payment, key);
  const details = (grant: Grant, paymentId: string) =>
    operation(bank.connector, 'EXISTING_PAYMENTS_DETAILS')(bank.under(grant), paymentId);
  let asked: ReturnType<BankUnderTest['payment']>;
  beforeEach(() => {
    asked = bank.payment();
  });

  it('are authorised, made, and followed to their end', async () => {
    const grant = await bank.authorisedPayment(asked);
    const made = await pay(grant);
    expect(made).toMatchObject({
      institutionPaymentId: expect.any(String),
      institutionConsentId: grant.institutionConsentId,
      statusDetails: { status: 'PENDING', isoStatus: { code: expect.any(String), name: expect.any(String) } },
      final: false,
      createdAt: expect.stringMatching(/^\d{4}-.*Z$/),
    });
    await sandbox.control('clock', { advance: 'PT2H' });
    const followed = await details(grant, made.institutionPaymentId);
    expect(followed).toMatchObject({
      institutionPaymentId: made.institutionPaymentId,
      statusDetails: { status: 'COMPLETED', isoStatus: { code: 'ACCC' } },
      final: true,
    });
  });

  it('sent again under the same key are one payment', async () => {
    const grant = await bank.authorisedPayment(asked);
    const key = newState();
    const first = await pay(grant, asked, key);
    const second = await pay(grant, asked, key);
    expect(bank.connector.resendable).toBe(true);
    expect(second.institutionPaymentId).toBe(first.institutionPaymentId);
    expect(
      bank.reports.filter(({ template, status }) => template === '/pisp/domestic-payments' && status === 201).length,
    ).toBeGreaterThan(1);
  });

  it('whose answer was lost are found again under the same key', async () => {
    const grant = await bank.authorisedPayment(asked);
    const key = newState();
    await sandbox.fault({ bank: bank.name, route: orders, fault: 'timeout', times: 1 });
    await expect(pay(grant, asked, key)).rejects.toEqual(failing('timeout'));
    expect(await pay(grant, asked, key)).toMatchObject({ statusDetails: { status: 'PENDING' } });
  });

  it('are not sent twice by a connection that was cut', async () => {
    const grant = await bank.authorisedPayment(asked);
    await sandbox.fault({ bank: bank.name, route: orders, fault: 'cut', times: 1 });
    await expect(pay(grant)).rejects.toEqual(failing('unavailable'));
  });

  it('under another key are refused once the consent is used', async () => {
    const grant = await bank.authorisedPayment(asked);
    await pay(grant);
    await expect(pay(grant)).rejects.toEqual(failing('consent-gone'));
  });

  it('that the PSU refuses are rejected', async () => {
    const { url, pending } = await bank.beginPayment(asked);
    const callback = await sandbox.visit(url, { decision: 'deny' });
    expect(await bank.connector.proceed(bank.call(), pending, { callback })).toMatchObject({ kind: 'rejected' });
  });

  it('that differ from what was authorised are refused before the bank is asked', async () => {
    const grant = await bank.authorisedPayment(asked);
    const before = bank.reports.length;
    for (const [changes, parameter] of [
      [{ amount: { amount: 99, currency: 'GBP' } }, '$.amount'],
      [{ payee: { ...asked.payee, name: 'Somebody Else' } }, '$.payee'],
      [{ reference: 'Other' }, '$.reference'],
    ] as const) {
      await expect(pay(grant, { ...asked, ...changes })).rejects.toMatchObject({ issues: [{ parameter }] });
    }
    expect(bank.reports.length).toBe(before);
  });

  it('without funds are not sent', async () => {
    const grant = await bank.authorisedPayment(asked);
    await sandbox.fault({ bank: bank.name, fault: 'insufficient-funds' });
    const sent = () => bank.reports.filter(({ template }) => template === '/pisp/domestic-payments').length;
    const before = sent();
    await expect(pay(grant)).rejects.toEqual(failing('rejected', { code: 'FUNDS_NOT_AVAILABLE' }));
    expect(sent()).toBe(before);
  });

  it('that the bank rejects later end as failed', async () => {
    const grant = await bank.authorisedPayment(asked);
    await sandbox.fault({ bank: bank.name, fault: 'payment-reject' });
    const { institutionPaymentId } = await pay(grant);
    await sandbox.control('clock', { advance: 'PT2H' });
    expect(await details(grant, institutionPaymentId)).toMatchObject({
      statusDetails: { status: 'FAILED', isoStatus: { code: 'RJCT' } },
      final: true,
    });
  });

  it.each(['wrong-signature', 'no-signature'])('are not believed with a message of %s', async (fault) => {
    const grant = await bank.authorisedPayment(asked);
    const { institutionPaymentId } = await pay(grant);
    await sandbox.fault({ bank: bank.name, fault });
    await expect(details(grant, institutionPaymentId)).rejects.toEqual(failing('malformed'));
    await expect(bank.beginPayment(bank.payment())).rejects.toEqual(failing('malformed'));
  });

  it('of another consent are not taken for ours', async () => {
    const one = await bank.authorisedPayment(asked);
    const { institutionPaymentId } = await pay(one);
    const other = await bank.authorisedPayment(bank.payment());
    await expect(details(other, institutionPaymentId)).rejects.toEqual(failing('malformed'));
    await expect(details(other, 'unknown')).rejects.toEqual(failing('not-found'));
  });

  it('cannot be taken back, and revoking says so by doing nothing', async () => {
    const grant = await bank.authorisedPayment(asked);
    await bank.connector.revoke(bank.under(grant));
    expect(await pay(grant)).toMatchObject({ statusDetails: { status: 'PENDING' } });
  });

  it('to an account scheme the bank lacks carry the bank’s own words and code', async () => {
    const far = { ...asked.payee, accountIdentifications: [{ type: 'IBAN' as const, identification: 'DE00' }] };
    await expect(bank.beginPayment({ ...asked, payee: far })).rejects.toEqual(
      failing('rejected', { httpStatus: 400, code: expect.stringMatching(/^(?:U0\d\d|UK\.OBIE\.Unsupported\.\w+)$/) }),
    );
  });
});
