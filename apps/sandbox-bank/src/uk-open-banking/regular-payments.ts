import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Account } from '../account.js';
import {
  directDebitsOf,
  nextPayment,
  payeesOf,
  quarterlyBill,
  scheduledBill,
  standingOrdersOf,
  type Arrangement,
  type Payee,
} from '../arrangements.js';
import { toWire } from '../clock.js';
import type { EntryDetail } from '../happening.js';
import { toAmount } from '../money.js';
import { findPersona } from '../personas.js';
import { accountIdOf, may, need, sharedAccount, type AccountRoutes } from './account-data.js';
import type { Consent } from './consents.js';

const pounds = (minor: number, { currency }: Account): object => ({ Amount: toAmount(minor), Currency: currency });

/** Who is paid: only Detail permissions show it (section "Permissions" of the standard). */
const creditor = ({ name, sortCode, accountNumber }: Payee): object => ({
  CreditorAccount: {
    SchemeName: 'UK.OBIE.SortCodeAccountNumber',
    Identification: `${sortCode}${accountNumber}`,
    Name: name,
  },
});

const monthly = (day: number): object => ({
  Frequency: { Type: 'MNTH', CountPerPeriod: 1, PointInTime: String(day).padStart(2, '0') },
});

/** Read/Write v4.0: beneficiaries, direct debits, standing orders and scheduled payments of an account. */
export function registerRegularPayments(app: FastifyInstance, routes: AccountRoutes): void {
  const { context, access, ledger } = routes;
  const { bank, resources } = context;
  const api = `/open-banking/${bank.version}/aisp`;
  const serve = (
    resource: string,
    member: string,
    permissions: string[],
    toList: (account: Account, consent: Consent) => object[],
  ): void => {
    app.get(`/banks/${bank.id}${api}/accounts/:accountId/${resource}`, async (request: FastifyRequest) => {
      const consent = await access.toData(request);
      need(consent, ...permissions);
      const account = sharedAccount(ledger, consent, accountIdOf(request));
      return {
        Data: { [member]: toList(account, consent) },
        Links: { Self: `${resources}${api}/accounts/${account.id}/${resource}` },
        Meta: { TotalPages: 1 },
      };
    });
  };
  serve('beneficiaries', 'Beneficiary', ['ReadBeneficiariesBasic', 'ReadBeneficiariesDetail'], (account, consent) =>
    payeesOf(account, findPersona(account.persona)).map((payee) => ({
      AccountId: account.id,
      BeneficiaryId: payee.id,
      BeneficiaryType: payee.isTrusted ? 'Trusted' : 'Ordinary',
      Reference: payee.reference,
      ...(may(consent, 'ReadBeneficiariesDetail') && creditor(payee)),
    })),
  );
  serve('direct-debits', 'DirectDebit', ['ReadDirectDebits'], (account) =>
    directDebitsOf(account).map((each) => toDirectDebit(routes, account, each)),
  );
  serve(
    'standing-orders',
    'StandingOrder',
    ['ReadStandingOrdersBasic', 'ReadStandingOrdersDetail'],
    (account, consent) => standingOrdersOf(account).map((each) => toStandingOrder(routes, account, consent, each)),
  );
  serve(
    'scheduled-payments',
    'ScheduledPayment',
    ['ReadScheduledPaymentsBasic', 'ReadScheduledPaymentsDetail'],
    (account, consent) => toScheduled(account, consent, context.clock.now()),
  );
}

/** The latest payment of an arrangement, as the ledger booked it. */
function lastOf(
  { ledger }: AccountRoutes,
  account: Account,
  { info }: Arrangement,
): { at: number; minor: number; reference: string | undefined } | undefined {
  const entry = ledger.latest(account, info);
  if (!entry) return undefined;
  const { reference } = JSON.parse(entry.detail) as EntryDetail;
  return { at: entry.bookedAt, minor: entry.amountMinor, reference };
}

function toDirectDebit(routes: AccountRoutes, account: Account, each: Arrangement): object {
  const last = lastOf(routes, account, each);
  return {
    AccountId: account.id,
    DirectDebitId: each.id,
    DirectDebitStatusCode: 'ACTV',
    MandateRelatedInformation: {
      MandateIdentification: last?.reference ?? each.payee.reference,
      Classification: 'VARI',
      ...monthly(each.day),
    },
    Name: each.payee.name,
    ...(last && {
      PreviousPaymentDateTime: toWire(last.at),
      PreviousPaymentAmount: pounds(last.minor, account),
    }),
  };
}

function toStandingOrder(routes: AccountRoutes, account: Account, consent: Consent, each: Arrangement): object {
  const last = lastOf(routes, account, each);
  const reference = last?.reference ?? each.payee.reference;
  return {
    AccountId: account.id,
    StandingOrderId: each.id,
    NextPaymentDateTime: toWire(nextPayment(each, routes.context.clock.now())),
    ...(last && { LastPaymentDateTime: toWire(last.at), LastPaymentAmount: pounds(last.minor, account) }),
    StandingOrderStatusCode: 'ACTV',
    FirstPaymentAmount: pounds(each.amountMinor, account),
    NextPaymentAmount: pounds(each.amountMinor, account),
    MandateRelatedInformation: {
      MandateIdentification: each.id,
      Classification: 'FIXE',
      FirstPaymentDateTime: toWire(account.openedAt),
      ...monthly(each.day),
    },
    RemittanceInformation: { Structured: [{ CreditorReferenceInformation: { Reference: reference } }] },
    ...(may(consent, 'ReadStandingOrdersDetail') && creditor(each.payee)),
  };
}

function toScheduled(account: Account, consent: Consent, now: number): object[] {
  const bill = scheduledBill(account, now);
  if (!bill) return [];
  return [
    {
      AccountId: account.id,
      ScheduledPaymentId: bill.id,
      ScheduledPaymentDateTime: toWire(bill.at),
      ScheduledType: 'Execution',
      Reference: bill.payee.reference,
      InstructedAmount: pounds(quarterlyBill.amountMinor, account),
      ...(may(consent, 'ReadScheduledPaymentsDetail') && creditor(bill.payee)),
    },
  ];
}
