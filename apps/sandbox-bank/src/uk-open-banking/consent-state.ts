/**
 * Consent statuses of Read/Write v4.0 (section 2.5 of the standard's code sets). `GONE` is ours: deleted by the TPP, after which
 * the standard has a GET answer as if the consent had never been.
 */
export type ConsentStatus = 'AWAU' | 'AUTH' | 'RJCT' | 'COND' | 'CANC' | 'EXPD' | 'GONE';
export type ConsentFamily = 'account' | 'payment';

const moves: Record<ConsentFamily, Record<ConsentStatus, readonly ConsentStatus[]>> = {
  account: {
    AWAU: ['AUTH', 'RJCT', 'EXPD', 'GONE'],
    AUTH: ['AUTH', 'CANC', 'RJCT', 'EXPD', 'GONE'],
    CANC: ['AUTH', 'EXPD', 'GONE'],
    RJCT: ['GONE'],
    COND: [],
    EXPD: ['GONE'],
    GONE: [],
  },
  payment: { AWAU: ['AUTH', 'RJCT'], AUTH: ['COND'], CANC: [], RJCT: [], COND: [], EXPD: [], GONE: [] },
};

export function canMove(family: ConsentFamily, from: ConsentStatus, to: ConsentStatus): boolean {
  return moves[family][from].includes(to);
}

/** A PSU may authorise a waiting consent, and authorise an account consent again while it lives. */
export function canBeAuthorised(family: ConsentFamily, status: ConsentStatus): boolean {
  return canMove(family, status, 'AUTH');
}

export const isAuthorised = (status: ConsentStatus): boolean => status === 'AUTH';
export const isGone = (status: ConsentStatus): boolean => status === 'GONE';
export const isRejected = (status: ConsentStatus): boolean => status === 'RJCT';
export const isWaiting = (status: ConsentStatus): boolean => status === 'AWAU';
/** The PSU took access back at the bank; authorising again brings the consent back. */
export const isWithdrawn = (status: ConsentStatus): boolean => status === 'CANC';
