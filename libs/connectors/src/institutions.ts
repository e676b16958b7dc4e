import type { Feature } from '#libs/contract';
import { berlinGroupSandboxInstitutions } from './berlin-group-institutions.js';
import { usualPageBounds, type Institution } from './connector.js';
import type { Version } from './uk-open-banking/uk-open-banking.types.js';

/** The banks of the world, as far as somebody has added them: none comes with the project. The sandbox's are below. */
export const institutions: Institution[] = [];

/** What our UK connector can do beyond accounts, balances, transactions and payments. */
const furtherResources: Feature[] = [
  'ACCOUNT_STATEMENTS',
  'ACCOUNT_STATEMENT',
  'ACCOUNT_STATEMENT_FILE',
  'ACCOUNT_BENEFICIARIES',
  'ACCOUNT_DIRECT_DEBITS',
  'ACCOUNT_PERIODIC_PAYMENTS',
  'ACCOUNT_SCHEDULED_PAYMENTS',
  'IDENTITY',
];

function sandboxBank(
  { url, tlsUrl }: { url: string; tlsUrl: string },
  bank: {
    path: string;
    name: string;
    fullName: string;
    bic: string;
    organisationId: string;
    responseMode: 'fragment' | 'jwt';
    version?: Version;
    without?: Feature[];
    clientAuthentication?: 'tls_client_auth';
    isLongLived?: boolean;
  },
): Institution<'uk-open-banking'> {
  const at = (address: string): string => `${address.replace(/\/$/, '')}/banks/${bank.path}`;
  const baseUrl = at(url);
  return {
    id: `${bank.path}-sandbox`,
    name: bank.name,
    fullName: bank.fullName,
    countries: [{ displayName: 'United Kingdom', countryCode2: 'GB', bic: bank.bic }],
    environmentType: 'SANDBOX',
    credentialsType: 'OPEN_BANKING_UK_AUTO',
    media: [
      { source: `${baseUrl}/logo.svg`, type: 'logo' },
      { source: `${baseUrl}/icon.svg`, type: 'icon' },
    ],
    protocol: 'uk-open-banking',
    baseUrl,
    ...(bank.without ? { without: bank.without } : {}),
    modifiers: ['ACCOUNT_TRANSACTIONS_WITH_MERCHANT'],
    maxConsentDays: 90,
    ...(bank.isLongLived ? { isLongLived: true } : {}),
    acscIsFinal: false,
    requiredPsuHeaders: [],
    pageBounds: usualPageBounds,
    settings: {
      version: bank.version ?? '4.0',
      responseMode: bank.responseMode,
      resourcesUrl: `${at(tlsUrl)}/open-banking`,
      ...(bank.clientAuthentication ? { clientAuthentication: bank.clientAuthentication } : {}),
      jwsB64: false,
      trustAnchor: 'openbanking.org.uk',
      organisationId: bank.organisationId,
      signingKeysUrl: `${baseUrl}/signing/jwks`,
    },
  };
}

/** Every bank of the sandbox: its pages and metadata at `url`, what it wants a certificate for at `tlsUrl`. */
export function sandboxInstitutions(url: string, tlsUrl = url): Institution[] {
  return [...ukSandboxInstitutions(url, tlsUrl), ...berlinGroupSandboxInstitutions(url, tlsUrl)];
}

/** Its UK banks: of v4.0 one that answers `code id_token` in the fragment and one a JARM response, and one of v3.1. */
export function ukSandboxInstitutions(url: string, tlsUrl = url): Institution<'uk-open-banking'>[] {
  const sandbox = { url, tlsUrl };
  return [
    sandboxBank(sandbox, {
      path: 'meridian',
      name: 'Meridian Bank',
      fullName: 'Meridian Bank plc (sandbox)',
      bic: 'MRDNGB2L',
      organisationId: '0015800001MERIDIAN',
      responseMode: 'fragment',
    }),
    sandboxBank(sandbox, {
      path: 'tamar',
      name: 'Tamar Building Society',
      fullName: 'Tamar Building Society (sandbox)',
      bic: 'TAMRGB21',
      organisationId: '0015800001TAMARSBX',
      responseMode: 'jwt',
      clientAuthentication: 'tls_client_auth',
      isLongLived: true,
      without: furtherResources,
    }),
    sandboxBank(sandbox, {
      path: 'thistle',
      name: 'Thistle Bank',
      fullName: 'Thistle Bank plc (sandbox)',
      bic: 'THSTGB2L',
      organisationId: '0015800001THISTLEX',
      responseMode: 'fragment',
      version: '3.1',
    }),
  ];
}
