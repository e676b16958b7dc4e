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
import { now } from '#libs/server';
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

const usualScope: Feature[] = ['ACCOUNTS', 'ACCOUNT', 'ACCOUNT_BALANCES', 'ACCOUNT_TRANSACTIONS'];

export const newState = (): string => randomBytes(16).toString('hex');

/** Connects to one of the sandbox's banks. `changes` differ from its institution; `now` is the connector's clock. */
export function bankUnderTest(
  sandbox: SandboxBank,
  asked: { id: string; changes?: Partial<Institution>; now?: () => Date; deadlineMs?: number; scope?: Feature[] },
): BankUnderTest {
  const found = sandbox.institutions.find(({ id }) => id === asked.id);
  if (!found) throw new Error(`The sandbox has no bank ${asked.id}`);
  const institution = { ...found, ...asked.changes };
  const reports: Exchange[] = [];
  const { deadlineMs = 10_000 } = asked;
  const http = new BankHttp({ report: (exchange) => void reports.push(exchange), deadlineMs });
  const connector = connect(institution, { http, now: asked.now ?? now, credentials: sandbox.credentials });
  return {
    institution,
    connector,
    reports,
    name: asked.id.replace('-sandbox', ''),
    call,
    under,
    ...accountWays(sandbox, connector, asked.scope ?? usualScope),
    ...paymentWays(sandbox, connector),
    close: () => http.close(),
  };
}

function call(changes: Partial<Call> = {}): Call {
  return { psu: {}, tracingId: newState(), signal: AbortSignal.timeout(20_000), ...changes };
}

function under(grant: Grant, changes: Partial<Consented> = {}): Consented & { kept: Grant[] } {
  const consented = {
    ...call(),
    grant,
    kept: [] as Grant[],
    keep: async (renewed: Grant): Promise<void> => {
      consented.kept.push(renewed);
      consented.grant = renewed;
    },
    ...changes,
  };
  return consented;
}

function accountWays(sandbox: SandboxBank, connector: Connector, featureScope: Feature[]) {
  const { redirectUri } = sandbox.credentials;
  const begin: BankUnderTest['begin'] = async (state = newState()) => {
    const access = { state, redirectUri, featureScope };
    return { ...redirected(await operation(connector, 'INITIATE_ACCOUNT_REQUEST')(call(), access)), state };
  };
  const authorise: BankUnderTest['authorise'] = async (wish) => {
    const { url, pending } = await begin();
    return connector.proceed(call(), pending, { callback: await sandbox.visit(url, wish) });
  };
  return { begin, authorise, consent: async (wish?: Visit) => authorised(await authorise(wish)) };
}

function paymentWays(sandbox: SandboxBank, connector: Connector) {
  const { redirectUri } = sandbox.credentials;
  const beginPayment: BankUnderTest['beginPayment'] = async (asked) => {
    const access = { state: newState(), redirectUri, idempotencyKey: newState() };
    return redirected(await operation(connector, 'INITIATE_DOMESTIC_SINGLE_PAYMENT')(call(), asked, access));
  };
  const authorisedPayment = async (asked: PaymentRequest): Promise<Grant> => {
    const { url, pending } = await beginPayment(asked);
    return authorised(await connector.proceed(call(), pending, { callback: await sandbox.visit(url) }));
  };
  return { payment, beginPayment, authorisedPayment };
}

function payment(changes: Partial<PaymentRequest> = {}): PaymentRequest {
  return {
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
  };
}

function redirected(step: Step): { url: string; pending: Grant } {
  if (step.kind !== 'redirect') throw new Error(`Expected a redirect, not ${step.kind}`);
  return step;
}

function authorised(step: Step): Grant {
  if (step.kind !== 'authorised') throw new Error(`Expected an authorisation, not ${step.kind}`);
  return step.grant;
}
