/** How a bank differs from the next one: data only. */
export interface Bank {
  id: string;
  name: string;
  tagline: string;
  /** Brand colours, as CSS. Both reach a contrast of 4.5 to 1 under white text. */
  colour: string;
  colourDark: string;
  /** The bank's id at the trust anchor: the `iss` of its message signatures. */
  organisationId: string;
  /** Four letters: the bank's part of an IBAN and of the BIC. */
  bankCode: string;
  sortCode: string;
  /** `hybrid`: `code id_token` in the fragment. `jarm`: `code` inside a signed response. Both are FAPI 1.0 Advanced. */
  authorisationResponse: 'hybrid' | 'jarm';
  rotatesRefreshTokens: boolean;
  /** Transactions on a page. */
  pageSize: number;
}

/** Invented institutions; sort codes from a range that no bank holds. */
export const banks: readonly Bank[] = [
  {
    id: 'meridian',
    name: 'Meridian Sandbox',
    tagline: 'Banking on the line',
    colour: '#0b5c6b',
    colourDark: '#073f4a',
    organisationId: '0015800001MERIDIAN',
    bankCode: 'MRDS',
    sortCode: '007341',
    authorisationResponse: 'hybrid',
    rotatesRefreshTokens: true,
    pageSize: 100,
  },
  {
    id: 'tamar',
    name: 'Tamar Sandbox',
    tagline: 'Where the river meets the money',
    colour: '#6a2c70',
    colourDark: '#4a1d4f',
    organisationId: '0015800001TAMARSBX',
    bankCode: 'TMRS',
    sortCode: '006528',
    authorisationResponse: 'jarm',
    rotatesRefreshTokens: false,
    pageSize: 100,
  },
];

export function findBank(id: string): Bank | undefined {
  return banks.find((bank) => bank.id === id);
}
