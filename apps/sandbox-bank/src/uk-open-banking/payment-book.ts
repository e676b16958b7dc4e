import { randomUUID } from 'node:crypto';
import type { BankClock } from '../clock.js';
import type { Ledger } from '../ledger.js';
import { toMinor } from '../money.js';
import type { Store } from '../store.js';
import type { Consent, Consents } from './consents.js';
import { identificationOf, initiationOf, referenceOf, schemeOf } from './debtor.js';
import { isSettled, statusAt, type Outcome, type PaymentStatus } from './payment-state.js';

export interface Payment {
  id: string;
  bank: string;
  clientId: string;
  consentId: string;
  accountId: string;
  amountMinor: number;
  currency: string;
  status: PaymentStatus;
  reason: string | undefined;
  outcome: Outcome;
  createdAt: number;
  statusAt: number;
  reads: number;
}

type PaymentRow = {
  [K in keyof Payment]: K extends 'reason' ? string | null : Payment[K] extends number ? number : string;
};

/** Payment orders of every bank: taking one reserves the money, and it moves with the bank's clock and with every look at it. */
export class PaymentBook {
  constructor(
    private readonly store: Store,
    private readonly clock: BankClock,
    private readonly ledger: Ledger,
    private readonly consents: Consents,
  ) {}

  /** Takes the order and consumes the consent, both or neither; `alongside` runs in the same transaction. Undefined: the consent is spent. */
  take(
    consent: Consent,
    plan: { outcome: Outcome; hasFunds: boolean },
    alongside: (payment: Payment) => void,
  ): Payment | undefined {
    return this.store.transaction(() => {
      if (!this.consents.move(consent, 'COND')) return undefined;
      const { Amount, Currency } = initiationOf(consent).InstructedAmount;
      const now = this.clock.now();
      const status: PaymentStatus = plan.hasFunds ? statusAt(plan.outcome, { elapsedMs: 0, reads: 0 }) : 'RJCT';
      const payment: Payment = {
        id: `dp-${randomUUID()}`,
        bank: consent.bank,
        clientId: consent.clientId,
        consentId: consent.id,
        accountId: consent.accountIds[0] ?? '',
        amountMinor: toMinor(Amount) ?? 0,
        currency: Currency,
        status,
        reason: plan.hasFunds ? undefined : 'AM04',
        outcome: plan.hasFunds ? plan.outcome : 'reject',
        createdAt: now,
        statusAt: now,
        reads: 0,
      };
      this.store.run(
        `INSERT INTO payments (id, bank, clientId, consentId, accountId, amountMinor, currency, status, reason, outcome, createdAt, statusAt, reads)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0)`,
        payment.id,
        payment.bank,
        payment.clientId,
        payment.consentId,
        payment.accountId,
        payment.amountMinor,
        payment.currency,
        payment.status,
        payment.reason ?? null,
        payment.outcome,
        now,
        now,
      );
      alongside(payment);
      return payment;
    });
  }

  find(bank: string, id: string): Payment | undefined {
    const row = this.store.get<PaymentRow>('SELECT * FROM payments WHERE bank = ? AND id = ?', bank, id);
    return row && fromRow(row);
  }

  /** The order as a TPP finds it now; looking moves it on by a step. */
  look(bank: string, id: string): Payment | undefined {
    if (this.store.run('UPDATE payments SET reads = reads + 1 WHERE bank = ? AND id = ?', bank, id) === 0)
      return undefined;
    const payment = this.find(bank, id);
    return payment && this.#moveOn(payment);
  }

  /** Moves on whatever the clock has made due, so that accounts show it even when nobody asked for the order. */
  settle(bank: string): void {
    const open = this.store.all<PaymentRow>(
      "SELECT * FROM payments WHERE bank = ? AND status NOT IN ('ACCC', 'RJCT')",
      bank,
    );
    for (const row of open) this.#moveOn(fromRow(row));
  }

  #moveOn(payment: Payment): Payment {
    const now = this.clock.now();
    const status =
      payment.reason === undefined
        ? statusAt(payment.outcome, { elapsedMs: now - payment.createdAt, reads: payment.reads })
        : payment.status;
    if (status === payment.status) return payment;
    const reason = status === 'RJCT' ? 'AG01' : undefined;
    // The rows that are due are booked first, each account in its own transaction.
    this.ledger.account(payment.accountId);
    this.store.transaction(() => {
      const moved = this.store.run(
        'UPDATE payments SET status = ?, reason = ?, statusAt = ? WHERE id = ? AND status = ?',
        status,
        reason ?? null,
        now,
        payment.id,
        payment.status,
      );
      if (moved === 1 && isSettled(status) && !isSettled(payment.status)) this.#book(payment);
    });
    return { ...payment, status, reason, statusAt: now };
  }

  /** The debit at the payer, and the credit when the payee banks in the sandbox too. */
  #book(payment: Payment): void {
    const consent = this.consents.find(payment.bank, payment.consentId);
    if (!consent) return;
    const initiation = initiationOf(consent);
    const { Name, SchemeName, Identification } = initiation.CreditorAccount;
    const reference = referenceOf(initiation) ?? initiation.EndToEndIdentification;
    this.ledger.post(payment.accountId, {
      id: payment.id,
      amountMinor: -payment.amountMinor,
      detail: {
        code: 'FPO',
        iso: ['ICDT', 'DMCT'],
        info: `FASTER PAYMENT TO ${Name.toUpperCase()}`,
        reference,
        party: { name: Name, scheme: SchemeName, identification: Identification },
      },
    });
    const payer = this.ledger.account(payment.accountId);
    const payee = this.ledger.findByNumber(schemeOf(SchemeName), Identification);
    if (!payee || !payer || payee.currency !== payment.currency) return;
    const from = identificationOf(payer, 'SortCodeAccountNumber');
    this.ledger.post(payee.id, {
      id: `${payment.id}-in`,
      amountMinor: payment.amountMinor,
      detail: {
        code: 'FPI',
        iso: ['RCDT', 'DMCT'],
        info: `FASTER PAYMENT FROM ${payer.holder.toUpperCase()}`,
        reference,
        party: {
          name: payer.holder,
          scheme: 'UK.OBIE.SortCodeAccountNumber',
          ...(from !== undefined && { identification: from }),
        },
      },
    });
  }
}

function fromRow(row: PaymentRow): Payment {
  return {
    ...row,
    status: row.status as PaymentStatus,
    outcome: row.outcome as Outcome,
    reason: row.reason ?? undefined,
  };
}
