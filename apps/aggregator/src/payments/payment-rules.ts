import { parseDateTime, PaymentType, toMinor, type Feature, type Issue, type PaymentRequest } from '#libs/contract';

/** What a payment type is called among the features, and which members it cannot do without. */
interface TypeRule {
  initiate: Feature;
  create: Feature;
  /** The feature that promises `refundAccount`, where the type has one. */
  refund?: Feature;
  requires: readonly ('paymentDateTime' | 'periodicPayment' | 'internationalPayment' | 'payee.address')[];
}

const RULES: Readonly<Partial<Record<PaymentType, TypeRule>>> = {
  DOMESTIC_PAYMENT: {
    initiate: 'INITIATE_DOMESTIC_SINGLE_PAYMENT',
    create: 'CREATE_DOMESTIC_SINGLE_PAYMENT',
    refund: 'READ_DOMESTIC_SINGLE_REFUND',
    requires: [],
  },
  DOMESTIC_INSTANT_PAYMENT: {
    initiate: 'INITIATE_DOMESTIC_SINGLE_INSTANT_PAYMENT',
    create: 'CREATE_DOMESTIC_SINGLE_INSTANT_PAYMENT',
    requires: [],
  },
  DOMESTIC_SCHEDULED_PAYMENT: {
    initiate: 'INITIATE_DOMESTIC_SCHEDULED_PAYMENT',
    create: 'CREATE_DOMESTIC_SCHEDULED_PAYMENT',
    refund: 'READ_DOMESTIC_SINGLE_REFUND',
    requires: ['paymentDateTime'],
  },
  DOMESTIC_PERIODIC_PAYMENT: {
    initiate: 'INITIATE_DOMESTIC_PERIODIC_PAYMENT',
    create: 'CREATE_DOMESTIC_PERIODIC_PAYMENT',
    refund: 'READ_DOMESTIC_SINGLE_REFUND',
    requires: ['paymentDateTime', 'periodicPayment'],
  },
  INTERNATIONAL_PAYMENT: {
    initiate: 'INITIATE_INTERNATIONAL_SINGLE_PAYMENT',
    create: 'CREATE_INTERNATIONAL_SINGLE_PAYMENT',
    requires: ['internationalPayment', 'payee.address'],
  },
  INTERNATIONAL_SCHEDULED_PAYMENT: {
    initiate: 'INITIATE_INTERNATIONAL_SCHEDULED_PAYMENT',
    create: 'CREATE_INTERNATIONAL_SCHEDULED_PAYMENT',
    requires: ['internationalPayment', 'payee.address', 'paymentDateTime'],
  },
  INTERNATIONAL_PERIODIC_PAYMENT: {
    initiate: 'INITIATE_INTERNATIONAL_PERIODIC_PAYMENT',
    create: 'CREATE_INTERNATIONAL_PERIODIC_PAYMENT',
    requires: ['internationalPayment', 'payee.address', 'paymentDateTime', 'periodicPayment'],
  },
};

/** The rule of a type that clients may choose; undefined for BULK_PAYMENT and the VRP type, which have endpoints of their own. */
export function paymentTypeRule(type: PaymentType): TypeRule | undefined {
  return RULES[type];
}

/**
 * What is wrong with a payment beyond the rules of its class; empty when nothing is. `at` is the present, `root` the
 * JSONPath under which the payment stands in its body.
 */
export function paymentIssues(payment: PaymentRequest, at: Date, root = '$'): Issue[] {
  const rule = paymentTypeRule(payment.type);
  if (rule === undefined) return [issue(`${root}.type`, `${payment.type} has its own endpoint`)];
  const missing = rule.requires
    .filter((member) => (member === 'payee.address' ? payment.payee.address : payment[member]) === undefined)
    .map((member) => issue(`${root}.${member}`, `is mandatory for ${payment.type}`));
  return [
    ...missing,
    ...amountIssues(payment, root),
    ...dateIssues(payment, at, root),
    ...accountIssues(payment, root),
  ];
}

function amountIssues({ amount }: PaymentRequest, root: string): Issue[] {
  try {
    return toMinor(amount.amount, amount.currency) > 0n ? [] : [issue(`${root}.amount.amount`, 'must be more than 0')];
  } catch {
    return [issue(`${root}.amount.amount`, `must not be finer than the minor unit of ${amount.currency}`)];
  }
}

function dateIssues({ paymentDateTime }: PaymentRequest, at: Date, root: string): Issue[] {
  const when = paymentDateTime === undefined ? undefined : parseDateTime(paymentDateTime);
  return when !== undefined && when <= at ? [issue(`${root}.paymentDateTime`, 'must be in the future')] : [];
}

/** The identifications whose form is the same everywhere. */
const FORMS: Readonly<Record<string, RegExp>> = {
  SORT_CODE: /^\d{2}-?\d{2}-?\d{2}$/,
  ACCOUNT_NUMBER: /^[A-Za-z0-9]{1,34}$/,
  IBAN: /^[A-Z]{2}\d{2}[A-Z0-9]{11,30}$/,
  BIC: /^[A-Z0-9]{8}([A-Z0-9]{3})?$/,
};

function accountIssues(payment: PaymentRequest, root: string): Issue[] {
  const parties = [
    { name: 'payee', accounts: payment.payee.accountIdentifications },
    { name: 'payer', accounts: payment.payer?.accountIdentifications ?? [] },
  ];
  return parties.flatMap(({ name, accounts }) => [
    ...accounts.flatMap(({ type, identification }, position) => {
      const form = FORMS[type];
      if (form === undefined || form.test(identification.replaceAll(' ', ''))) return [];
      return [issue(`${root}.${name}.accountIdentifications[${position}].identification`, `is not a valid ${type}`)];
    }),
    ...(new Set(accounts.map(({ type }) => type)).size === accounts.length
      ? []
      : [issue(`${root}.${name}.accountIdentifications`, 'must not name a type twice')]),
  ]);
}

function issue(parameter: string, message: string): Issue {
  return {
    type: 'INVALID_REQUEST',
    code: 'INVALID_PROPERTY_UNEXPECTED_VALUE',
    parameter,
    message: `${parameter} ${message}`,
  };
}
