import { randomBytes } from 'node:crypto';
import { PaymentType, type Feature, type PaymentRequest } from '#libs/contract';
import {
  BankHttp,
  connect,
  operation,
  type Call,
  type Connector,
  type Consented,
  type Exchange,
  type Grant,
  type Institution,
  type Step,
} from '#libs/connectors';
import type { SandboxBank, Visit } from './sandbox.js';

/** A connector at one bank of the sandbox, with what a test wants to see of it. */
export interface BankUnderTest {
  institution: Institution;
  connector: Connector;
  /** Every exchange it reported. */
  reports: Exchange[];
  /** The bank's name in the control API. */
  name: string;
  call(changes?: Partial<Call>): Call;
  /** A call under a grant; what the connector keeps is kept, in `kept` and for the next call. */
  under(grant: Grant, changes?: Partial<Consented>): Consented & { kept: Grant[] };
  /** Asks for access, plays the PSU, finishes. Throws what `proceed` throws. */
  authorise(wish?: Visit): Promise<Step>;
  /** The same, which must succeed. */
  consent(wish?: Visit): Promise<Grant>;
  /** Begins account access and answers the address for the PSU and what is pending. */
  begin(state?: string): Promise<{ url: string; pending: Grant; state: string }>;
  payment(changes?: Partial<PaymentRequest>): PaymentRequest;
  beginPayment(payment: PaymentRequest): Promise<{ url: string; pending: Grant }>;
  authorisedPayment(payment: PaymentRequest): Promise<Grant>;
  close(): Promise<void>;
}

const scope: Feature[] = ['ACCOUNTS', 'ACCOUNT', 'ACCOUNT_BALANCES', 'ACCOUNT_TRANSACTIONS'];

export const newState = (): string => randomBytes(16).toString('hex');

/** Connects to one of the sandbox's banks. `settings` changes the institution; `now` is the connector's clock. */
export function bankUnderTest(
  sandbox: SandboxBank,
  asked: { id: string; changes?: Partial<Institution>; now?: () => Date; deadlineMs?: number },
): BankUnderTest {
  const found = sandbox.institutions.find(({ id }) => id === asked.id);
  if (!found) throw new Error(`The sandbox has no bank ${asked.id}`);
  const institution = { ...found, ...asked.changes };
  const reports: Exchange[] = [];
  const http = new BankHttp({
    report: (exchange) => void reports.push(exchange),
    deadlineMs: asked.deadlineMs ?? 10_000,
  });
  const now = asked.now ?? (() => new Date());
  const connector = connect(institution, { http, now, credentials: sandbox.credentials });
  const { redirectUri } = sandbox.credentials;

  const bank: BankUnderTest = {
    institution,
    connector,
    reports,
    name: asked.id.replace('-sandbox', ''),
    call: (changes = {}) => ({ psu: {}, tracingId: newState(), signal: AbortSignal.timeout(20_000), ...changes }),
    under: (grant, changes = {}) => {
      const consented = {
        ...bank.call(),
        grant,
        kept: [] as Grant[],
        keep: async (renewed: Grant): Promise<void> => {
          consented.kept.push(renewed);
          consented.grant = renewed;
        },
        ...changes,
      };
      return consented;
    },
    begin: async (state = newState()) => {
      const access = { state, redirectUri, featureScope: scope };
      return { ...redirected(await operation(connector, 'INITIATE_ACCOUNT_REQUEST')(bank.call(), access)), state };
    },
    authorise: async (wish) => {
      const { url, pending } = await bank.begin();
      return connector.proceed(bank.call(), pending, { callback: await sandbox.visit(url, wish) });
    },
    consent: async (wish) => authorised(await bank.authorise(wish)),
    payment: (changes = {}) => ({
      paymentIdempotencyId: newState(),
      type: PaymentType.DOMESTIC_PAYMENT,
      amount: { amount: 12.34, currency: 'GBP' },
      reference: 'Order 77',
      payee: {
        name: 'Harbour Books',
        accountIdentifications: [
          { type: 'SORT_CODE', identification: '200000' },
          { type: 'ACCOUNT_NUMBER', identification: '12345678' },
        ],
      },
      ...changes,
    }),
    beginPayment: async (payment) => {
      const access = { state: newState(), redirectUri, idempotencyKey: newState() };
      return redirected(await operation(connector, 'INITIATE_DOMESTIC_SINGLE_PAYMENT')(bank.call(), payment, access));
    },
    authorisedPayment: async (payment) => {
      const { url, pending } = await bank.beginPayment(payment);
      return authorised(await connector.proceed(bank.call(), pending, { callback: await sandbox.visit(url) }));
    },
    close: () => http.close(),
  };
  return bank;
}

function redirected(step: Step): { url: string; pending: Grant } {
  if (step.kind !== 'redirect') throw new Error(`Expected a redirect, not ${step.kind}`);
  return step;
}

function authorised(step: Step): Grant {
  if (step.kind !== 'authorised') throw new Error(`Expected an authorisation, not ${step.kind}`);
  return step.grant;
}
