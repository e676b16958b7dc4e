/** Consent statuses of NextGenPSD2 1.3.x, section 14.13. */
export type ConsentStatus =
  | 'received'
  | 'partiallyAuthorised'
  | 'valid'
  | 'rejected'
  | 'revokedByPsu'
  | 'expired'
  | 'terminatedByTpp';

const moves: Record<ConsentStatus, readonly ConsentStatus[]> = {
  received: ['partiallyAuthorised', 'valid', 'rejected', 'expired', 'terminatedByTpp'],
  partiallyAuthorised: ['valid', 'rejected', 'expired', 'terminatedByTpp'],
  valid: ['revokedByPsu', 'rejected', 'expired', 'terminatedByTpp'],
  rejected: [],
  revokedByPsu: [],
  expired: [],
  terminatedByTpp: [],
};

export const canMove = (from: ConsentStatus, to: ConsentStatus): boolean => moves[from].includes(to);
export const isOpen = (status: ConsentStatus): boolean => canMove(status, 'valid');
export const isValid = (status: ConsentStatus): boolean => status === 'valid';
export const isExpired = (status: ConsentStatus): boolean => status === 'expired';
export const isHalfSigned = (status: ConsentStatus): boolean => status === 'partiallyAuthorised';

/** SCA statuses of section 14.14. */
export type ScaStatus =
  | 'received'
  | 'psuIdentified'
  | 'psuAuthenticated'
  | 'scaMethodSelected'
  | 'started'
  | 'finalised'
  | 'failed'
  | 'exempted';

const final: ReadonlySet<ScaStatus> = new Set<ScaStatus>(['finalised', 'failed', 'exempted']);

export const isFinal = (status: ScaStatus): boolean => final.has(status);
