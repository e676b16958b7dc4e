import type { Call, ConsentState, Consented, Grant } from '../connector.js';
import { InstitutionError } from '../institution-error.js';
import { instantIfAny, textOf, unreadable } from '../wire.js';
import { consentStates, errorCodeOf } from './codes.js';
import type { Parts } from './parts.js';
import { versionOf, withClientToken } from './uk-open-banking.authorise.js';
import type { Scope } from './uk-open-banking.openid.js';
import type { OBReadConsentResponse1, OBWriteDomesticConsentResponse5 } from './uk-open-banking.types.js';

type ConsentParts = Pick<Parts, 'api' | 'openid' | 'version' | 'now'>;
type ConsentData = (OBReadConsentResponse1 | OBWriteDomesticConsentResponse5)['Data'] & {
  ExpirationDateTime?: string;
};

/** Undefined when the bank no longer knows it: a deleted consent answers 400, or 404 at banks that are kinder. */
async function consentOf({ api, openid, version }: ConsentParts, call: Call, grant: Grant) {
  const asked = { call, scope: scopeOf(grant), version: versionOf(grant, version) };
  const id = grant.institutionConsentId;
  try {
    const { Data }: { Data: ConsentData } = await withClientToken(openid, asked, (authorised) =>
      asked.scope === 'payments' ? api.domesticConsent(authorised, id) : api.accountConsent(authorised, id),
    );
    return Data;
  } catch (fault) {
    if (isUnknown(fault)) return undefined;
    throw fault;
  }
}

/** Where a consent stands at the bank. */
export async function consentState(parts: ConsentParts, { grant, ...call }: Consented): Promise<ConsentState> {
  const consent = await consentOf(parts, call, grant);
  if (!consent) return 'revoked';
  const state = stateOf(consent, parts.now());
  if (!state) throw unreadable('Status');
  return state;
}

/** Whether reading can still come to something: a status we do not know is no reason to end a consent. */
export async function isConsentAlive(parts: ConsentParts, call: Call, grant: Grant): Promise<boolean> {
  const consent = await consentOf(parts, call, grant);
  const state = consent && (stateOf(consent, parts.now()) ?? 'authorised');
  return state === 'authorised' || state === 'awaiting';
}

/** v3.1 has no word for an expired consent: its own date tells. Undefined for a word that we do not know. */
function stateOf(consent: ConsentData, now: Date): ConsentState | undefined {
  const state = consentStates[textOf(consent.Status, 'Status')];
  const end = instantIfAny(consent.ExpirationDateTime, 'ExpirationDateTime');
  const isOver = end !== undefined && Date.parse(end) <= now.getTime();
  return isOver && (state === 'authorised' || state === 'awaiting') ? 'expired' : state;
}

/** Deleting is for account access; a payment consent ends by itself and cannot be taken back. */
export async function revoke({ api, openid, version }: ConsentParts, call: Consented): Promise<void> {
  const { grant } = call;
  if (scopeOf(grant) === 'payments') return;
  try {
    await withClientToken(openid, { call, scope: 'accounts', version: versionOf(grant, version) }, (authorised) =>
      api.deleteAccountConsent(authorised, grant.institutionConsentId),
    );
  } catch (fault) {
    if (!isUnknown(fault)) throw fault;
  }
}

function scopeOf(grant: Grant): Scope {
  const state = grant.state as { scope?: string } | null;
  return state?.scope === 'payments' ? 'payments' : 'accounts';
}

function isUnknown(fault: unknown): boolean {
  if (!(fault instanceof InstitutionError)) return false;
  if (fault.kind === 'not-found') return true;
  return fault.httpStatus === 400 && (fault.code === undefined || errorCodeOf(fault.code) === 'U009');
}
