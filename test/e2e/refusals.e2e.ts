import { createHmac, randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { AggregatorClient } from '#libs/client';
import { type PaymentRequest, problems } from '#libs/contract';
import { SecretBox } from '#libs/database';
import { call } from '../../apps/stack/src/http-call.js';
import { expectProblem } from '../support/expect-problem.js';
import { type Receiver, startReceiver, until } from '../support/receiver.js';
import { type TestMerchant, type TestSession, TestStack } from '../support/stack.js';

const institutionId = 'meridian-sandbox';

describe('what each step of the journey refuses', () => {
  let stack: TestStack;
  let shop: Receiver;
  let root: AggregatorClient;
  let client: AggregatorClient;
  let subApplication: string;
  let merchant: TestMerchant;
  let session: TestSession;

  const bff = <T>(path: string, options: Parameters<typeof call>[1] = {}): Promise<T> =>
    call<T>(`${stack.urls.bff}/v1${path}`, { bearer: session.token, ...options });

  beforeAll(async () => {
    [stack, shop] = await Promise.all([TestStack.start(), startReceiver()]);
    root = stack.client();
    const { data } = await root.createSubApplication({
      name: 'Refusals',
      merchantCategoryCode: '5411',
      ppcUserGroup: 'CONSUMER_GOODS_SERVICES',
      isContractPresent: false,
      callbackUrls: [`${shop.url}/back`],
    });
    subApplication = data.id;
    client = root.forSubApplication(subApplication);
    ({ merchant, session } = await stack.merchantWithCustomer());
  });
  afterAll(async () => {
    await Promise.all([stack.stop(), shop.close()]);
  });

  /** An account authorisation that comes back to the shop with a one-time token. */
  const askForAccounts = async (): Promise<{ consentId: string; authorisationUrl: string }> => {
    const body = { applicationUserId: 'user-1', institutionId, callback: `${shop.url}/back`, oneTimeToken: true };
    const { data } = await client.initiateAccountRequest(body);
    return { consentId: data.id, authorisationUrl: data.authorisationUrl ?? '' };
  };
  /** Posts what the bank put into the fragment, as the callback page's script does. */
  const postCallback = (rawRedirect: string, changes: Record<string, string> = {}): Promise<Response> => {
    const fields = new URLSearchParams(new URL(rawRedirect).hash.slice(1));
    for (const [name, value] of Object.entries(changes)) fields.set(name, value);
    return fetch(`${stack.urls.aggregator}/callback`, { method: 'POST', body: fields, redirect: 'manual' });
  };
  const oneTimeTokenOf = (location: string | null): string =>
    new URL(location ?? '').searchParams.get('one-time-token') ?? '';

  it('a wrong secret', async () => {
    const wrong = stack.client({ id: stack.stack.application.id, secret: 'not-the-secret' });
    await expectProblem(wrong.getUsers(), problems.credentialsInvalid(), { shape: 'minimal' });
    await expectProblem(wrong.getRegisteredWebhooks(), problems.credentialsInvalid(), { shape: 'numeric' });
  });

  it('a sub-application of somebody else', async () => {
    const foreign = root.forSubApplication(randomUUID());
    await expect(foreign.getUsers()).rejects.toMatchObject({ status: 403 });
    await expect(foreign.getConsents()).rejects.toMatchObject({ status: 403 });
    const users = await stack.sql('SELECT 1 FROM aggregator.users WHERE application_user_id = $1', ['foreign']);
    expect(users).toHaveLength(0);
  });

  it('a tampered state, and the right answer is still welcome afterwards', async () => {
    const { consentId, authorisationUrl } = await askForAccounts();
    const raw = await stack.authorise(authorisationUrl, { follow: false });
    const tampered = await postCallback(raw, { state: 'f'.repeat(32) });
    expect(tampered.status).toBe(400);
    expect((await client.getConsentById(consentId)).data.status).toBe('AWAITING_AUTHORIZATION');
    const right = await postCallback(raw);
    expect(right.status).toBe(303);
    expect((await client.getConsentById(consentId)).data.status).toBe('AUTHORIZED');
  });

  it('a tampered code, which the id_token’s c_hash gives away', async () => {
    const { consentId, authorisationUrl } = await askForAccounts();
    const raw = await stack.authorise(authorisationUrl, { follow: false });
    const answer = await postCallback(raw, { code: 'another-code' });
    const back = new URL(answer.headers.get('location') ?? '');
    expect(back.searchParams.get('error')).not.toBeNull();
    expect(back.searchParams.get('one-time-token')).toBeNull();
    // The flow is over: what the bank really said is not known, and its own answer is not taken any more.
    await postCallback(raw);
    const { data } = await client.getConsentById(consentId);
    expect(data.status).toBe('UNKNOWN');
    expect(data).not.toHaveProperty('consentToken');
  });

  it('a replayed callback and a replayed or expired one-time token', async () => {
    const { consentId, authorisationUrl } = await askForAccounts();
    const raw = await stack.authorise(authorisationUrl, { follow: false });
    const oneTimeToken = oneTimeTokenOf((await postCallback(raw)).headers.get('location'));
    const replayed = await postCallback(raw);
    expect(replayed.headers.get('location') ?? '').not.toContain('one-time-token');
    const consent = await client.getConsentBySingleAccessConsent({ oneTimeToken });
    expect(consent).toMatchObject({ id: consentId, status: 'AUTHORIZED' });
    const gone = problems.notFound({ parameter: '$.oneTimeToken' });
    await expectProblem(client.getConsentBySingleAccessConsent({ oneTimeToken }), gone);

    const second = await askForAccounts();
    const late = oneTimeTokenOf(await stack.authorise(second.authorisationUrl));
    expect(late).not.toBe('');
    await stack.sql(
      "UPDATE aggregator.one_time_tokens SET expires_at = now() - interval '1 second' WHERE consent_id = $1",
      [second.consentId],
    );
    await expectProblem(client.getConsentBySingleAccessConsent({ oneTimeToken: late }), gone);
  });

  it('a customer who denies at the bank', async () => {
    const { consentId, authorisationUrl } = await askForAccounts();
    const back = new URL(await stack.authorise(authorisationUrl, { decision: 'deny' }));
    expect(back.searchParams.get('error')).toBe('access_denied');
    expect(back.searchParams.get('error-source')).toBe('user');
    expect((await client.getConsentById(consentId)).data).toMatchObject({ status: 'REJECTED' });

    const asked = await bff<{ id: string; authorisationUrl: string }>('/connections', {
      method: 'POST',
      body: { institutionId },
    });
    await fetch(await stack.authorise(asked.authorisationUrl, { decision: 'deny' }));
    expect(await bff(`/connections/${asked.id}`)).toMatchObject({ status: 'denied' });
  });

  it('an answer of 500 from the bank: an error with a reason, never an empty list', async () => {
    const { authorisationUrl } = await askForAccounts();
    const oneTimeToken = oneTimeTokenOf(await stack.authorise(authorisationUrl));
    const { consentToken = '' } = await client.getConsentBySingleAccessConsent({ oneTimeToken });
    await stack.fault({ bank: 'meridian', route: 'GET /aisp/accounts', fault: '500', times: 1 });
    await expect(client.getAccounts(consentToken)).rejects.toMatchObject({
      status: 424,
      body: { error: { source: 'INSTITUTION', institutionError: { httpStatusCode: 500 } } },
    });
    expect((await client.getAccounts(consentToken)).data.length).toBeGreaterThan(0);
  });

  it('a sync against a failing bank: degraded and retried, with nothing recorded and nobody asked to come back', async () => {
    const asked = await bff<{ id: string; authorisationUrl: string }>('/connections', {
      method: 'POST',
      body: { institutionId },
    });
    const back = await stack.authorise(asked.authorisationUrl);
    await stack.fault({ bank: 'meridian', route: 'GET /aisp/accounts', fault: '500', times: 1 });
    await fetch(back);
    const view = (): Promise<{ status: string; health: string; nextSyncAt?: string }> =>
      bff(`/connections/${asked.id}`);
    await until(async () => (await view()).health === 'degraded', 30_000);
    expect(await view()).toMatchObject({ status: 'active', health: 'degraded', nextSyncAt: expect.any(String) });
    expect((await bff<{ data: unknown[] }>('/accounts')).data).toHaveLength(0);
  });

  describe('webhooks', () => {
    const url = (): string => `${stack.urls.bff}/v1/webhooks/aggregator`;
    const send = (body: string, signature: string, id: string): Promise<Response> =>
      fetch(url(), {
        method: 'POST',
        body,
        headers: { 'content-type': 'application/json', 'webhook-signature': signature, 'webhook-id': id },
      });
    /** The merchant's own webhook secret, opened with the BFF's key. */
    const secret = async (): Promise<string> => {
      const file = await readFile(join(stack.dataDir, 'credentials.json'), 'utf8');
      const { bffSealingKeys } = JSON.parse(file) as { bffSealingKeys: string };
      const [row] = await stack.sql<{ id: string; sealed_secret: string }>(
        'SELECT id, sealed_secret FROM bff.webhook_secrets WHERE merchant_id = $1',
        [merchant.id],
      );
      return new SecretBox(bffSealingKeys).open(row?.sealed_secret ?? '', `webhook-secret:${row?.id}`);
    };
    const body = (): string =>
      JSON.stringify({
        id: randomUUID(),
        applicationId: merchant.subApplicationId,
        type: 'single_payment.status.completed',
        event: { id: `unknown-${randomUUID()}` },
      });
    const countOf = async (deliveryId: string): Promise<number> =>
      (await stack.sql('SELECT 1 FROM bff.inbound_events WHERE delivery_id = $1', [deliveryId])).length;

    it('with a wrong signature are not stored', async () => {
      const id = randomUUID();
      const text = body();
      const forged = createHmac('sha256', 'a guess').update(text).digest('hex');
      expect((await send(text, forged, id)).status).toBe(401);
      const right = createHmac('sha256', await secret())
        .update(text)
        .digest('hex');
      expect((await send(`${text} `, right, id)).status).toBe(401);
      expect(await countOf(id)).toBe(0);
    });

    it('that are replayed are acknowledged and stored once', async () => {
      const id = randomUUID();
      const text = body();
      const signature = createHmac('sha256', await secret())
        .update(text)
        .digest('hex');
      const answers = await Promise.all([1, 2, 3].map(() => send(text, signature, id)));
      for (const { status } of answers) expect(status).toBeLessThan(300);
      expect((await send(text, signature, id)).status).toBeLessThan(300);
      expect(await countOf(id)).toBe(1);
    });
  });

  it('a payment sent twice with the same idempotency id: one payment, one debit', async () => {
    const paymentRequest: PaymentRequest = {
      paymentIdempotencyId: randomUUID().replaceAll('-', ''),
      type: 'DOMESTIC_PAYMENT',
      amount: { amount: 3.21, currency: 'GBP' },
      reference: 'TWICE',
      payee: {
        name: 'Twice Ltd',
        accountIdentifications: [
          { type: 'SORT_CODE', identification: '203002' },
          { type: 'ACCOUNT_NUMBER', identification: '10203345' },
        ],
      },
    };
    const asked = await client.createPaymentAuthorisation({
      applicationUserId: 'user-1',
      institutionId,
      callback: `${shop.url}/back`,
      oneTimeToken: true,
      paymentRequest,
    });
    const oneTimeToken = oneTimeTokenOf(await stack.authorise(asked.data.authorisationUrl ?? ''));
    const { consentToken = '' } = await client.getConsentBySingleAccessConsent({ oneTimeToken });
    const [first, second] = await Promise.all([
      client.createPayment(consentToken, paymentRequest),
      client.createPayment(consentToken, paymentRequest),
    ]);
    expect(second.data.paymentLifecycleId).toBe(first.data.paymentLifecycleId);
    const third = await client.createPayment(consentToken, paymentRequest);
    expect(third.data.paymentLifecycleId).toBe(first.data.paymentLifecycleId);

    const changed = { ...paymentRequest, amount: { amount: 4, currency: 'GBP' } };
    await expect(client.createPayment(consentToken, changed)).rejects.toMatchObject({ status: expect.any(Number) });
    const another = { ...paymentRequest, paymentIdempotencyId: 'another' };
    await expect(client.createPayment(consentToken, another)).rejects.toMatchObject({ status: expect.any(Number) });
    const rows = await stack.sql('SELECT 1 FROM aggregator.payments WHERE consent_id = $1', [asked.data.id]);
    expect(rows).toHaveLength(1);
    const { payments } = await call<{ payments: { count: number }[] }>(`${stack.urls.sandbox}/control/state`);
    expect(payments.reduce((sum, { count }) => sum + count, 0)).toBe(1);
  });
});
