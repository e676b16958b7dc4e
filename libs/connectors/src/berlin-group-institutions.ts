import type { Feature } from '#libs/contract';
import { usualPageBounds, type Institution, type PsuHeaders } from './connector.js';
import type { BerlinGroupSettings } from './berlin-group/berlin-group.types.js';

/** PSD2: account access lasts 180 days without the customer (Delegated Regulation (EU) 2022/2360). */
const MAX_CONSENT_DAYS = 180;

const usual: BerlinGroupSettings = {
  scaApproach: 'redirect',
  consentModel: 'global',
  bookingStatus: 'both',
  withBalance: true,
  hasBalances: true,
  historyDays: 730,
};

function sandboxBank(
  { url, tlsUrl }: { url: string; tlsUrl: string },
  bank: {
    path: string;
    name: string;
    countries: Institution['countries'];
    settings?: Partial<BerlinGroupSettings>;
    without?: Feature[];
    requiredPsuHeaders?: (keyof PsuHeaders)[];
  },
): Institution<'berlin-group'> {
  const at = (address: string): string => `${address.replace(/\/$/, '')}/banks/${bank.path}`;
  const settings = { ...usual, ...bank.settings };
  return {
    id: `${bank.path}-sandbox`,
    name: bank.name,
    fullName: `${bank.name} (sandbox)`,
    countries: bank.countries,
    environmentType: 'SANDBOX',
    credentialsType: 'OPEN_BANKING_AUTO',
    media: [
      { source: `${at(url)}/logo.svg`, type: 'logo' },
      { source: `${at(url)}/icon.svg`, type: 'icon' },
    ],
    protocol: 'berlin-group',
    baseUrl: at(tlsUrl),
    ...(bank.without ? { without: bank.without } : {}),
    ...(settings.oauthPreStep ? { modifiers: ['INITIATE_PRE_AUTHORISATION_ACCOUNTS'] } : {}),
    maxConsentDays: MAX_CONSENT_DAYS,
    acscIsFinal: true,
    requiredPsuHeaders: bank.requiredPsuHeaders ?? [],
    pageBounds: usualPageBounds,
    settings,
  };
}

/** The Berlin Group banks of the sandbox, one for each way of authenticating the PSU. */
export function berlinGroupSandboxInstitutions(url: string, tlsUrl = url): Institution<'berlin-group'>[] {
  const sandbox = { url, tlsUrl };
  return [
    sandboxBank(sandbox, {
      path: 'lindenhof',
      name: 'Lindenhof Bank',
      countries: [{ displayName: 'Germany', countryCode2: 'DE', bic: 'LNDHDEFF' }],
    }),
    sandboxBank(sandbox, {
      path: 'marais',
      name: 'Banque du Marais',
      countries: [{ displayName: 'France', countryCode2: 'FR', bic: 'MRAIFRPP' }],
      settings: { oauthPreStep: { AIS: 'AIS', PIS: 'PIS' } },
    }),
    sandboxBank(sandbox, {
      path: 'isarkasse',
      name: 'Isarkasse',
      countries: [{ displayName: 'Germany', countryCode2: 'DE', bic: 'ISARDEMM' }],
      settings: { scaApproach: 'embedded' },
    }),
    sandboxBank(sandbox, {
      path: 'fjordbank',
      name: 'Fjordbank',
      countries: [
        { displayName: 'Norway', countryCode2: 'NO', bic: 'FJRDNOKK' },
        { displayName: 'Denmark', countryCode2: 'DK' },
      ],
      settings: {
        scaApproach: 'decoupled',
        withBalance: false,
        hasBalances: false,
        oauthPreStep: {
          AIS: 'AIS',
          PIS: 'PIS',
          backchannel: {
            metadataUrl: `${url.replace(/\/$/, '')}/banks/fjordbank/.well-known/oauth-authorization-server`,
          },
        },
      },
      requiredPsuHeaders: ['id', 'ipAddress'],
    }),
    sandboxBank(sandbox, {
      path: 'ticino',
      name: 'Banca Ticino',
      countries: [{ displayName: 'Italy', countryCode2: 'IT', bic: 'TICNITMM' }],
      settings: { withBalance: false },
      without: ['ACCOUNT_TRANSACTIONS'],
    }),
  ];
}
