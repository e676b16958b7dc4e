import { parseDateTime, type AccountRequest, type Feature, type Issue } from '#libs/contract';
import type { AccountAccess, Return } from '#libs/connectors';
import { type AccessRules, latestEnd } from '../consents/consent-clocks.js';

/** The features that read account data; what an account consent may be scoped to. */
export const ACCOUNT_FEATURES: ReadonlySet<Feature> = new Set<Feature>([
  'ACCOUNT_REQUEST_DETAILS',
  'ACCOUNTS',
  'ACCOUNT',
  'ACCOUNTS_WITHOUT_BALANCE',
  'ACCOUNT_WITHOUT_BALANCE',
  'ACCOUNT_BALANCES',
  'ACCOUNT_TRANSACTIONS',
  'ACCOUNT_TRANSACTIONS_WITH_MERCHANT',
  'ACCOUNT_STATEMENTS',
  'ACCOUNT_STATEMENT',
  'ACCOUNT_STATEMENT_FILE',
  'ACCOUNT_SCHEDULED_PAYMENTS',
  'ACCOUNT_DIRECT_DEBITS',
  'ACCOUNT_PERIODIC_PAYMENTS',
  'ACCOUNT_BENEFICIARIES',
  'IDENTITY',
]);

/** What an account consent will allow, once its request was found to be in order. */
export interface AccountTerms {
  featureScope: Feature[];
  /** Absent where it has no end of its own. */
  expiresAt?: Date;
  transactionFrom?: Date;
  transactionTo?: Date;
}

/**
 * The terms of a consent: the asked scope or all that the institution offers; the asked end, no later than what it allows,
 * which is also the end when none was asked; the asked window. The faults are named by their JSONPath.
 */
export function accountTerms(
  request: AccountRequest | undefined,
  institution: { features: readonly Feature[]; data: AccessRules },
  at: Date,
): { terms: AccountTerms; issues: Issue[] } {
  const issues: Issue[] = [];
  const offered = institution.features.filter((feature) => ACCOUNT_FEATURES.has(feature));
  const asked = request?.featureScope ?? offered;
  const absent = asked.filter((feature) => !offered.includes(feature));
  if (absent.length > 0)
    issues.push(issue('featureScope', `is not supported by the institution: ${absent.join(', ')}`));
  if (asked.length === 0) issues.push(issue('featureScope', 'must not be empty'));

  const transactionFrom = instant(request?.transactionFrom);
  const transactionTo = instant(request?.transactionTo);
  if (transactionFrom && transactionTo && transactionFrom > transactionTo) {
    issues.push(issue('transactionFrom', 'must not be after transactionTo'));
  }
  const wanted = instant(request?.expiresAt);
  if (wanted && wanted <= at) issues.push(issue('expiresAt', 'must be in the future'));
  const latest = latestEnd(institution.data, at);
  const expiresAt = wanted && (latest === undefined || wanted < latest) ? wanted : latest;
  const terms: AccountTerms = {
    featureScope: [...asked],
    ...(expiresAt ? { expiresAt } : {}),
    ...(transactionFrom ? { transactionFrom } : {}),
    ...(transactionTo ? { transactionTo } : {}),
  };
  return { terms, issues };
}

/** What the bank is asked for: the terms, and the accounts that the request names. */
export function accountAccess(
  request: AccountRequest | undefined,
  { featureScope, expiresAt, transactionFrom, transactionTo }: AccountTerms,
): Omit<AccountAccess, keyof Return> {
  const {
    accountIdentifiers,
    accountIdentifiersForBalance = [],
    accountIdentifiersForTransaction = [],
  } = request ?? {};
  const accounts = [
    ...(accountIdentifiers ? [accountIdentifiers] : []),
    ...accountIdentifiersForBalance,
    ...accountIdentifiersForTransaction,
  ];
  return {
    featureScope,
    ...(expiresAt ? { expiresAt } : {}),
    ...(transactionFrom ? { transactionFrom } : {}),
    ...(transactionTo ? { transactionTo } : {}),
    ...(accounts.length > 0 ? { accounts } : {}),
  };
}

function instant(text: string | undefined): Date | undefined {
  return text === undefined ? undefined : parseDateTime(text);
}

function issue(member: string, message: string): Issue {
  const parameter = `$.accountRequest.${member}`;
  return {
    type: 'INVALID_REQUEST',
    code: 'INVALID_PROPERTY_UNEXPECTED_VALUE',
    parameter,
    message: `${member} ${message}`,
  };
}
