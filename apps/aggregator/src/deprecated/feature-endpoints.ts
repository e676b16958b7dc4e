import { Feature } from '#libs/contract';

/** Which operation a feature enables; the first pattern that fits counts. */
const endpoints: readonly (readonly [feature: RegExp, endpoint: string])[] = [
  [/^INITIATE_ONETIME_PRE_AUTHORISATION_PAYMENTS$/, '/payment-pre-auth-requests'],
  [/^INITIATE_(ONETIME_)?PRE_AUTHORISATION/, '/pre-auth-requests'],
  [/^INITIATE_ACCOUNT_REQUEST$/, '/account-auth-requests'],
  [/^INITIATE_EMBEDDED_ACCOUNT_REQUEST$/, '/embedded-account-auth-requests'],
  [/^INITIATE_EMBEDDED_DOMESTIC_SINGLE_PAYMENT$/, '/embedded-payment-auth-requests'],
  [/^INITIATE_EMBEDDED_BULK_PAYMENT$/, '/embedded-bulk-payment-auth-requests'],
  [/^INITIATE_BULK_PAYMENT$/, '/bulk-payment-auth-requests'],
  [/^CREATE_BULK_PAYMENT$/, '/bulk-payments'],
  [/^EXISTING_BULK_PAYMENT_DETAILS$/, '/bulk-payments/{bulkPaymentId}/details'],
  [/^INITIATE_DOMESTIC_VARIABLE_RECURRING_PAYMENT/, '/variable-recurring-payments/sweeping/consents'],
  [/^CREATE_DOMESTIC_VARIABLE_RECURRING_PAYMENT/, '/variable-recurring-payments/payments'],
  [/^VARIABLE_RECURRING_PAYMENT_FUNDS_CONFIRMATION$/, '/variable-recurring-payments/funds-confirmation'],
  [/^(INITIATE|READ)_(DOMESTIC|INTERNATIONAL)_/, '/payment-auth-requests'],
  [/^PERIODIC_PAYMENT_FREQUENCY_EXTENDED$/, '/payment-auth-requests'],
  [/^CREATE_(DOMESTIC|INTERNATIONAL)_/, '/payments'],
  [/^EXISTING_PAYMENTS_DETAILS$/, '/payments/{paymentId}/details'],
  [/^ACCOUNTS(_WITHOUT_BALANCE)?$/, '/accounts'],
  [/^ACCOUNT(_WITHOUT_BALANCE)?$/, '/accounts/{accountId}'],
  [/^ACCOUNT_BALANCES$/, '/accounts/{accountId}/balances'],
  [/^ACCOUNT_TRANSACTIONS/, '/accounts/{accountId}/transactions'],
  [/^ACCOUNT_STATEMENTS$/, '/accounts/{accountId}/statements'],
  [/^ACCOUNT_STATEMENT$/, '/accounts/{accountId}/statements/{statementId}'],
  [/^ACCOUNT_STATEMENT_FILE$/, '/accounts/{accountId}/statements/{statementId}/file'],
  [/^ACCOUNT_SCHEDULED_PAYMENTS$/, '/accounts/{accountId}/scheduled-payments'],
  [/^ACCOUNT_PERIODIC_PAYMENTS$/, '/accounts/{accountId}/periodic-payments'],
  [/^ACCOUNT_DIRECT_DEBITS$/, '/accounts/{accountId}/direct-debits'],
  [/^ACCOUNT_BENEFICIARIES$/, '/accounts/{accountId}/beneficiaries'],
  [/^IDENTITY$/, '/identity'],
];

/** Every feature of the interface with its operation; those whose operations are gone from the interface have none. */
export const featureEndpoints: readonly { feature: Feature; endpoint?: string }[] = Object.values(Feature).map(
  (feature) => {
    const endpoint = endpoints.find(([pattern]) => pattern.test(feature))?.[1];
    return endpoint === undefined ? { feature } : { feature, endpoint };
  },
);
