/** What every bank has, whichever standard it speaks: data only. */
interface House {
  id: string;
  name: string;
  tagline: string;
  /** Brand colours, as CSS. Both reach a contrast of 4.5 to 1 under white text. */
  colour: string;
  colourDark: string;
  /** ISO 3166 code: the last letters of its BIC's first half, and the start of its IBANs. */
  country: string;
  /** Four letters: the bank's part of the BIC and, in Britain, of an IBAN. */
  bankCode: string;
  /** Transactions on a page. */
  pageSize: number;
}

/** A bank of the UK standard. */
export interface UkBank extends House {
  standard: 'uk-open-banking';
  /** The bank's id at the trust anchor: the `iss` of its message signatures. */
  organisationId: string;
  sortCode: string;
  /** `hybrid`: `code id_token` in the fragment. `jarm`: `code` inside a signed response. Both are FAPI 1.0 Advanced. */
  authorisationResponse: 'hybrid' | 'jarm';
  rotatesRefreshTokens: boolean;
  /** How long after the authorisation refresh tokens work, in days, whatever the consent says. */
  refreshDays: number;
  /** How a TPP proves who it is at the token endpoint, on top of the certificate that every call has to show. */
  clientAuthentication: 'private_key_jwt' | 'tls_client_auth';
  /** Whether an access token works under the certificate alone with which it was asked for (RFC 8705, section 3). */
  bindsTokens: boolean;
  version: 'v3.1' | 'v4.0';
  /** Whether it has what the standard leaves to the bank: payees, regular payments, statements, people. */
  hasMoreData: boolean;
}

export type BalanceType = 'closingBooked' | 'expected' | 'interimAvailable' | 'interimBooked';

/** A bank of the Berlin Group's NextGenPSD2 framework, and where it uses the framework's freedoms. */
export interface BerlinGroupBank extends House {
  standard: 'berlin-group';
  /** The national part of an IBAN: the bank's own characters, then as many digits of the account. */
  iban: { bankPart: string; digits: number };
  approach: 'redirect' | 'embedded' | 'decoupled';
  /**
   * An OAuth 2.0 token that says who the PSU is (“pre-step”): `redirect` is needed before anything else, `device` may be had
   * first, and the PSU gives it on their phone.
   */
  preStep: 'none' | 'redirect' | 'device';
  /** How many different people have to sign a consent. */
  authorisers: 1 | 2;
  errorShape: 'tpp-messages' | 'problem-json';
  /** Links start with the scheme, or with the path. */
  links: 'absolute' | 'relative';
  /** Whether an account is called otherwise in every consent. */
  remintsResourceIds: boolean;
  honoursWithBalance: boolean;
  /** What the standard lets a bank leave out. */
  tellsBalances: boolean;
  tellsTransactions: boolean;
  hasIdsWhilePending: boolean;
  balanceTypes: readonly BalanceType[];
}

export type Bank = UkBank | BerlinGroupBank;

const britain = {
  standard: 'uk-open-banking',
  country: 'GB',
  pageSize: 100,
  version: 'v4.0',
  hasMoreData: true,
  clientAuthentication: 'private_key_jwt',
  bindsTokens: true,
  refreshDays: 90,
} as const;
const europe = {
  standard: 'berlin-group',
  preStep: 'none',
  authorisers: 1,
  errorShape: 'tpp-messages',
  links: 'absolute',
  remintsResourceIds: false,
  honoursWithBalance: true,
  tellsBalances: true,
  tellsTransactions: true,
  hasIdsWhilePending: true,
  balanceTypes: ['interimAvailable', 'interimBooked', 'closingBooked'],
  pageSize: 50,
} as const;

/** Invented institutions; sort codes and bank numbers from ranges that no bank holds. */
export const ukBanks: readonly UkBank[] = [
  {
    ...britain,
    id: 'meridian',
    name: 'Meridian Bank',
    tagline: 'Banking on the line',
    colour: '#0b5c6b',
    colourDark: '#073f4a',
    organisationId: '0015800001MERIDIAN',
    bankCode: 'MRDS',
    sortCode: '007341',
    authorisationResponse: 'hybrid',
    rotatesRefreshTokens: true,
  },
  {
    ...britain,
    id: 'tamar',
    name: 'Tamar Building Society',
    tagline: 'Where the river meets the money',
    colour: '#6a2c70',
    colourDark: '#4a1d4f',
    organisationId: '0015800001TAMARSBX',
    bankCode: 'TMRS',
    sortCode: '006528',
    authorisationResponse: 'jarm',
    rotatesRefreshTokens: false,
    refreshDays: 1_825,
    clientAuthentication: 'tls_client_auth',
    hasMoreData: false,
  },
  {
    ...britain,
    id: 'thistle',
    name: 'Thistle Bank',
    tagline: 'Plain words, sharp pencils',
    colour: '#5b3a8c',
    colourDark: '#3f2763',
    organisationId: '0015800001THISTLEX',
    bankCode: 'THST',
    sortCode: '009137',
    authorisationResponse: 'hybrid',
    rotatesRefreshTokens: true,
    bindsTokens: false,
    version: 'v3.1',
  },
];

export const berlinGroupBanks: readonly BerlinGroupBank[] = [
  {
    ...europe,
    id: 'lindenhof',
    name: 'Lindenhof Bank',
    tagline: 'Unter den Linden seit gestern',
    colour: '#2e6b34',
    colourDark: '#1e4a23',
    country: 'DE',
    bankCode: 'LNDH',
    iban: { bankPart: '00010090', digits: 10 },
    approach: 'redirect',
    remintsResourceIds: true,
    hasIdsWhilePending: false,
  },
  {
    ...europe,
    id: 'marais',
    name: 'Banque du Marais',
    tagline: 'La banque du quartier',
    colour: '#1f3f8f',
    colourDark: '#142a60',
    country: 'FR',
    bankCode: 'MRAI',
    iban: { bankPart: '0001900001', digits: 13 },
    approach: 'redirect',
    preStep: 'redirect',
    errorShape: 'problem-json',
    balanceTypes: ['expected'],
  },
  {
    ...europe,
    id: 'isarkasse',
    name: 'Isarkasse',
    tagline: 'Fließt und spart',
    colour: '#a3261e',
    colourDark: '#741a14',
    country: 'DE',
    bankCode: 'ISAR',
    iban: { bankPart: '00070080', digits: 10 },
    approach: 'embedded',
    links: 'relative',
    balanceTypes: ['closingBooked', 'interimAvailable'],
  },
  {
    ...europe,
    id: 'fjordbank',
    name: 'Fjordbank',
    tagline: 'Dyp ro',
    colour: '#00617f',
    colourDark: '#00435a',
    country: 'NO',
    bankCode: 'FJRD',
    iban: { bankPart: '0001', digits: 7 },
    approach: 'decoupled',
    preStep: 'device',
    errorShape: 'problem-json',
    tellsBalances: false,
  },
  {
    ...europe,
    id: 'ticino',
    name: 'Banca Ticino',
    tagline: 'Due firme, un conto',
    colour: '#7a4a00',
    colourDark: '#563400',
    country: 'IT',
    bankCode: 'TICN',
    iban: { bankPart: 'X0001000001', digits: 12 },
    approach: 'redirect',
    authorisers: 2,
    links: 'relative',
    remintsResourceIds: true,
    honoursWithBalance: false,
    tellsTransactions: false,
  },
];

export const banks: readonly Bank[] = [...ukBanks, ...berlinGroupBanks];

export function findBank(id: string): Bank | undefined {
  return banks.find((bank) => bank.id === id);
}
