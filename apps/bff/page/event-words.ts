import { causeOf } from './connection-words.js';
import { day, money, plural } from './format.js';
import { paymentStatus } from './payment-words.js';
import type { LoggedEvent, Payment } from './views.js';

/** What an event names, as far as the page knows it. */
export interface Names {
  connection: (id: string) => string | undefined;
  account: (id: string) => string | undefined;
}

/** A text member of an event; undefined where it has none. */
function textOf(event: LoggedEvent, name: string): string | undefined {
  const value = event.data[name];
  return typeof value === 'string' ? value : undefined;
}

function bankOf(event: LoggedEvent, { connection }: Names): string {
  return connection(textOf(event, 'connectionId') ?? '') ?? 'A bank';
}

function accountOf(event: LoggedEvent, { account }: Names): string {
  return account(textOf(event, 'accountId') ?? '') ?? 'An account';
}

const connectionEnds: Readonly<Record<string, string>> = {
  'awaiting-authorisation': 'waits for you',
  active: 'is connected',
  'needs-user': 'needs you',
  denied: 'was not allowed',
  failed: 'could not be connected',
  abandoned: 'was left unfinished',
  revoked: 'is disconnected',
};

const renewalEnds: Readonly<Record<string, string>> = {
  'awaiting-authorisation': 'has begun',
  completed: 'is complete',
  denied: 'was refused; nothing has changed',
  failed: 'failed; nothing has changed',
  abandoned: 'was left unfinished; nothing has changed',
  replaced: 'was replaced by another',
};

type Told = (event: LoggedEvent, names: Names) => string;

const sentences: Readonly<Record<string, Told>> = {
  'connection.updated': (event, names) => {
    const [status = '', reason] = [textOf(event, 'status'), textOf(event, 'reason')];
    const why = status === 'needs-user' && reason !== undefined ? `, because ${causeOf(reason)}` : '';
    return `${bankOf(event, names)} ${connectionEnds[status] ?? status}${why}`;
  },
  'connection.synced': (event, names) => {
    const problem = textOf(event, 'problem');
    const end = problem === undefined ? 'was read' : `was not read to the end, because ${causeOf(problem)}`;
    return `${bankOf(event, names)} ${end}`;
  },
  'connection.expiring': (event, names) => {
    const { daysLeft } = event.data;
    const left = typeof daysLeft === 'number' ? ` in ${plural(daysLeft, 'day')}` : '';
    const [at, cause] = [textOf(event, 'at'), textOf(event, 'cause')];
    if (daysLeft === 0) return `Data of ${bankOf(event, names)} have stopped, because ${causeOf(cause)}`;
    return `Data of ${bankOf(event, names)} stop${left}, on ${day(at)}, because ${causeOf(cause)}`;
  },
  'connection.renewal': (event, names) => {
    const status = textOf(event, 'status') ?? '';
    return `The renewal of ${bankOf(event, names)} ${renewalEnds[status] ?? status}`;
  },
  'account.balance-mismatch': (event, names) => {
    const moved = money(Number(textOf(event, 'amount')), textOf(event, 'currency'));
    return `${accountOf(event, names)}: the balance moved ${moved} beyond the transactions`;
  },
  'account.balance-agreed': (event, names) =>
    `${accountOf(event, names)}: the balance agrees with the transactions again`,
  'account.linked': (event, names) => `${accountOf(event, names)} is known again`,
  'account.renumbered': (event, names) => `${accountOf(event, names)} has a new number`,
  'account.unresolved': (event, names) => `${accountOf(event, names)} is new, and may be one that was there before`,
  'account.joined': (event, names) => `${accountOf(event, names)} and another account are one`,
};

/** An event as a sentence; by its type and status where it is a new one. */
export function told(event: LoggedEvent, names: Names): string {
  const status = textOf(event, 'status');
  if (event.type.startsWith('payment.') && status !== undefined)
    return `The payment is ${paymentStatus(status as Payment['status'])}`;
  return sentences[event.type]?.(event, names) ?? event.type.replaceAll(/[._-]/g, ' ');
}
