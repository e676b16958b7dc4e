import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Access } from './access.js';
import { namingOf } from './account-naming.js';
import { referenceTo } from './account-routes.js';
import type { Authorisation } from './authorisations.js';
import { dateOf } from './bank-day.js';
import { modelOf, readConsent, type AccountAccess } from './consent-request.js';
import { isOpen } from './consent-state.js';
import { isReadable, type BerlinConsent } from './consents.js';
import { headerOf, linkTo, type BerlinContext } from './context.js';
import { refusals, type Link } from './error.js';
import { linksOf, scaFacts, start } from './sca.js';

/** NextGenPSD2 1.3.x, section 6.3: POST /v1/consents, GET, GET status, DELETE. */
export function registerConsents(app: FastifyInstance, context: BerlinContext, access: Access): void {
  const { bank, consents } = context;
  const path = `/banks/${bank.id}/v1/consents`;
  app.post(path, (request, reply) => create(context, access, request, reply));
  app.get(`${path}/:consentId`, async (request, reply) => {
    const { consent } = await access.ownConsent(request);
    return reply.send(toBody(context, consent));
  });
  app.get(`${path}/:consentId/status`, async (request, reply) => {
    const { consent } = await access.ownConsent(request);
    return reply.send({ consentStatus: consent.status });
  });
  app.delete(`${path}/:consentId`, async (request, reply) => {
    const { consent } = await access.ownConsent(request);
    consents.move(consent, 'terminatedByTpp');
    return reply.code(204).send();
  });
}

async function create(
  context: BerlinContext,
  access: Access,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { bank, clock, consents } = context;
  const caller = await access.callerOf(request);
  if (headerOf(request, 'psu-ip-address') === undefined)
    throw refusals.format('PSU-IP-Address', 'PSU-IP-Address is missing');
  const redirects = redirectsOf(context, request, caller.clientId);
  const ask = { ...readConsent(bank, request.body, dateOf(clock.now())), ...namingOf(context.faultOf(request)) };
  const psuId = caller.persona ?? headerOf(request, 'psu-id');
  const consent = consents.create({ bank: bank.id, clientId: caller.clientId, ask, psuId, redirects });
  const isExplicit = bank.authorisers > 1 || headerOf(request, 'tpp-explicit-authorisation-preferred') === 'true';
  const isEnough = bank.approach === 'redirect' || (bank.approach === 'decoupled' && psuId !== undefined);
  const begun = !isExplicit && isEnough ? start(context, consent, { psuId }) : undefined;
  const self = linkTo(context, `/consents/${consent.id}`);
  return reply
    .code(201)
    .header('location', self.href)
    .header('aspsp-sca-approach', bank.approach.toUpperCase())
    .send({
      consentStatus: consent.status,
      consentId: consent.id,
      ...(begun && scaFacts(context, begun)),
      _links: { ...onward(context, consent, begun), self, status: linkTo(context, `/consents/${consent.id}/status`) },
    });
}

/** Where an authorisation begins: it has begun with the consent, or the TPP has to start it with what the link's name says. */
function onward(
  context: BerlinContext,
  consent: BerlinConsent,
  begun: Authorisation | undefined,
): Record<string, Link> {
  if (begun) return linksOf(context, begun);
  const { bank } = context;
  const authorisations = linkTo(context, `/consents/${consent.id}/authorisations`);
  if (bank.approach === 'redirect') return { startAuthorisation: authorisations };
  if (consent.psuId === undefined) return { startAuthorisationWithPsuIdentification: authorisations };
  return bank.approach === 'embedded'
    ? { startAuthorisationWithPsuAuthentication: authorisations }
    : { startAuthorisation: authorisations };
}

/** Where the bank may send the browser: to addresses that the TPP is registered with, whatever their query. */
function redirectsOf(
  { bank, tpps }: BerlinContext,
  request: FastifyRequest,
  clientId: string,
): BerlinConsent['redirects'] {
  const registered = tpps.find((tpp) => tpp.clientId === clientId)?.redirectUris ?? [];
  const read = (name: string): string | undefined => {
    const value = headerOf(request, name.toLowerCase());
    if (value === undefined) return undefined;
    const isKnown =
      URL.canParse(value) &&
      registered.some((uri) => URL.canParse(uri) && withoutQuery(new URL(uri)) === withoutQuery(new URL(value)));
    if (!isKnown) throw refusals.format(name, `${name} is not registered`);
    return value;
  };
  const redirects = { ok: read('TPP-Redirect-URI'), nok: read('TPP-Nok-Redirect-URI') };
  if (bank.approach === 'redirect' && redirects.ok === undefined)
    throw refusals.format('TPP-Redirect-URI', 'TPP-Redirect-URI is missing');
  return redirects;
}

const withoutQuery = (url: URL): string => `${url.origin}${url.pathname}`;

function toBody(context: BerlinContext, consent: BerlinConsent): object {
  const { ask } = consent;
  const isWaiting = isOpen(consent.status);
  return {
    access: sharedAccess(context, consent),
    recurringIndicator: ask.recurringIndicator,
    validUntil: ask.validUntil,
    frequencyPerDay: ask.frequencyPerDay,
    lastActionDate: dateOf(consent.lastReadAt ?? consent.statusAt),
    consentStatus: consent.status,
    _links: {
      ...(isReadable(consent) && { account: linkTo(context, '/accounts') }),
      ...(isWaiting && { startAuthorisation: linkTo(context, `/consents/${consent.id}/authorisations`) }),
    },
  };
}

/** A bank-offered consent names, once it is authorised, the accounts that the PSU chose. */
function sharedAccess(context: BerlinContext, consent: BerlinConsent): AccountAccess {
  const { access } = consent.ask;
  if (modelOf(access) !== 'bank-offered' || consent.accountIds.length === 0) return access;
  const references = consent.accountIds
    .map((id) => context.ledger.account(id))
    .filter((account) => account !== undefined)
    .map((account) => referenceTo(context, consent, account));
  return {
    ...(access.accounts && { accounts: references }),
    ...(access.balances && { balances: references }),
    ...(access.transactions && { transactions: references }),
  };
}
