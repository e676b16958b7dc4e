import { findPersona, type Persona } from '../personas.js';
import type { Authorisation } from './authorisations.js';
import { isNamed, modelOf, namedAccounts } from './consent-request.js';
import { isFinal, isOpen, type ScaStatus } from './consent-state.js';
import type { BerlinConsent } from './consents.js';
import { linkTo, type BerlinContext } from './context.js';
import { refusals, type Link } from './error.js';
import { challengeOf, methodsOf } from './sca-methods.js';
import type { Account } from '../account.js';

const triesMax = 3;

/** The accounts that a consent opens when this person signs it: those it names, or all of them. */
export function offeredAccounts({ bank, ledger }: BerlinContext, consent: BerlinConsent, persona: Persona): Account[] {
  const all = ledger.accountsOf(bank.id, persona.id);
  const { access } = consent.ask;
  return modelOf(access) === 'dedicated' ? all.filter((each) => isNamed(namedAccounts(access), each)) : all;
}

/** Starts an authorisation in the way of this bank; what the TPP must send for it depends on the approach. */
export function start(
  context: BerlinContext,
  consent: BerlinConsent,
  sent: { psuId: string | undefined; password?: string | undefined },
): Authorisation {
  const { bank, authorisations } = context;
  if (!isOpen(consent.status)) throw refusals.status('The consent cannot be authorised any more');
  const { psuId = consent.psuId, password } = sent;
  if (bank.approach === 'redirect') return authorisations.start(consent, 'received', psuId);
  if (psuId === undefined) throw refusals.format('PSU-ID', 'PSU-ID is missing');
  if (bank.approach === 'decoupled') {
    if (!findPersona(psuId)) throw refusals.credentials();
    return authorisations.start(consent, 'started', psuId);
  }
  const begun = authorisations.start(consent, 'psuIdentified', psuId);
  return password === undefined ? begun : authenticate(context, consent, begun, password);
}

/** The first factor. What comes next depends on how many methods the PSU has: none, one, or several to choose from. */
export function authenticate(
  context: BerlinContext,
  consent: BerlinConsent,
  authorisation: Authorisation,
  password: string,
): Authorisation {
  const persona = findPersona(authorisation.psuId ?? '');
  if (!persona || persona.password !== password) {
    countFailure(context, authorisation);
    throw refusals.credentials();
  }
  const methods = methodsOf(persona);
  const [only] = methods;
  if (!only) return finish(context, consent, authorisation, 'exempted');
  const { authorisations } = context;
  return methods.length === 1
    ? authorisations.change(authorisation, { scaStatus: 'scaMethodSelected', methodId: only.authenticationMethodId })
    : authorisations.change(authorisation, { scaStatus: 'psuAuthenticated' });
}

export function choose(context: BerlinContext, authorisation: Authorisation, methodId: string): Authorisation {
  const persona = findPersona(authorisation.psuId ?? '');
  const method = persona && methodsOf(persona).find((each) => each.authenticationMethodId === methodId);
  if (!method) throw refusals.methodUnknown();
  return context.authorisations.change(authorisation, { scaStatus: 'scaMethodSelected', methodId });
}

export function confirm(
  context: BerlinContext,
  consent: BerlinConsent,
  authorisation: Authorisation,
  code: string,
): Authorisation {
  if (findPersona(authorisation.psuId ?? '')?.code !== code) {
    countFailure(context, authorisation);
    throw refusals.scaInvalid();
  }
  return finish(context, consent, authorisation, 'finalised');
}

/** Signs the consent with every account it is about; a consent about accounts of others cannot be signed. */
function finish(
  context: BerlinContext,
  consent: BerlinConsent,
  authorisation: Authorisation,
  scaStatus: ScaStatus,
): Authorisation {
  const { bank, authorisations, consents } = context;
  const persona = findPersona(authorisation.psuId ?? '');
  const accounts = persona ? offeredAccounts(context, consent, persona) : [];
  const accountIds = accounts.map((account) => account.id);
  if (!persona || accounts.length === 0 || !consents.sign(bank, consent, { persona: persona.id, accountIds })) {
    authorisations.fail(authorisation);
    return { ...authorisation, scaStatus: 'failed' };
  }
  return authorisations.change(authorisation, { scaStatus });
}

function countFailure({ authorisations }: BerlinContext, authorisation: Authorisation): void {
  if (authorisations.countFailure(authorisation) >= triesMax) authorisations.fail(authorisation);
}

/** The address at which the PSU decides, in a browser that the TPP sends or on a device of the PSU's own. */
export function visitAddress({ address }: BerlinContext, authorisation: Authorisation): string {
  return `${address}/psu/${authorisation.id}`;
}

/** The links that lead on from where an authorisation stands (section 4.12): a TPP goes by nothing else. */
export function linksOf(context: BerlinContext, authorisation: Authorisation): Record<string, Link> {
  const { bank } = context;
  const self = linkTo(context, `/consents/${authorisation.consentId}/authorisations/${authorisation.id}`);
  const onward: Partial<Record<ScaStatus, string>> = {
    psuIdentified: 'updatePsuAuthentication',
    psuAuthenticated: 'selectAuthenticationMethod',
    scaMethodSelected: 'authoriseTransaction',
  };
  const name = bank.approach === 'embedded' ? onward[authorisation.scaStatus] : undefined;
  const isRedirect = bank.approach === 'redirect' && !isFinal(authorisation.scaStatus);
  return {
    ...(isRedirect && { scaRedirect: { href: visitAddress(context, authorisation) } }),
    ...(name !== undefined && { [name]: self }),
    scaStatus: self,
  };
}

/** What an answer tells of an authorisation besides its links. */
export function scaFacts({ bank }: BerlinContext, authorisation: Authorisation): object {
  const { scaStatus, methodId } = authorisation;
  const persona = findPersona(authorisation.psuId ?? '');
  const methods = persona ? methodsOf(persona) : [];
  const chosen = methods.find((each) => each.authenticationMethodId === methodId);
  return {
    scaStatus,
    ...(scaStatus === 'psuAuthenticated' && { scaMethods: methods }),
    ...(scaStatus === 'scaMethodSelected' &&
      chosen && { chosenScaMethod: chosen, challengeData: challengeOf(chosen, authorisation.id) }),
    ...(bank.approach === 'decoupled' &&
      scaStatus === 'started' && { psuMessage: `Please confirm the request in your ${bank.name} app.` }),
  };
}
