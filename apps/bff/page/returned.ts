import { money } from './format.js';
import { paymentStatus } from './payment-words.js';
import type { Connection, Payment } from './views.js';

/** What the browser was sent to a bank for. */
export interface Returned {
  connection?: string | undefined;
  renewal?: string | undefined;
  payment?: string | undefined;
}

/** What the API told the browser on its way back from a bank; the address is then cleaned of it. */
export function takeReturned(): Returned | undefined {
  const query = new URLSearchParams(location.search);
  if (!query.has('status')) return undefined;
  history.replaceState(null, '', location.pathname);
  const of = (name: string) => query.get(name) ?? undefined;
  return { connection: of('connection'), renewal: of('renewal-status'), payment: of('payment') };
}

interface Known {
  connections: readonly Connection[] | undefined;
  payments: readonly Payment[] | undefined;
  /** The bank's name of a connection. */
  nameOf: (connection: Connection) => string;
}

const connectionSentences: Partial<Record<Connection['status'], (name: string) => string>> = {
  active: (name) =>
    `${name} is connected. Its accounts and their history are being read, and from now on by themselves.`,
  'awaiting-authorisation': (name) => `${name} has not decided yet: somebody else may have to agree, too.`,
  denied: (name) => `You did not connect ${name}. Nothing was kept.`,
};

const renewalSentences: Readonly<Record<string, (name: string) => string>> = {
  completed: (name) => `The consent of ${name} is renewed.`,
  'awaiting-authorisation': (name) => `The renewal of ${name} is on its way.`,
};

/** How what the browser was sent to a bank for stands by now; undefined while it is not known. */
export function toldOf({ connection: id, renewal, payment: paymentId }: Returned, known: Known): string | undefined {
  const payment = known.payments?.find((each) => each.id === paymentId);
  if (payment) return `Your payment of ${money(payment.amount, payment.currency)} is ${paymentStatus(payment.status)}.`;
  const connection = known.connections?.find((each) => each.id === id);
  if (!connection) return undefined;
  // What is wrong by now stands at the connection itself.
  if (connection.status === 'needs-user') return undefined;
  const name = known.nameOf(connection);
  if (renewal !== undefined)
    return renewalSentences[renewal]?.(name) ?? `${name} was not renewed; it goes on with the consent that it has.`;
  return connectionSentences[connection.status]?.(name) ?? `${name} could not be connected.`;
}
