import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Access } from './access.js';
import type { Authorisation } from './authorisations.js';
import { membersOf } from './consent-request.js';
import { isFinal } from './consent-state.js';
import type { BerlinConsent } from './consents.js';
import { headerOf, linkTo, type BerlinContext } from './context.js';
import { refusals } from './error.js';
import { authenticate, choose, confirm, linksOf, scaFacts, start } from './sca.js';

/** NextGenPSD2 1.3.x, section 7: the authorisations of a consent: start, update the PSU's data, read the SCA status. */
export function registerAuthorisations(app: FastifyInstance, context: BerlinContext, access: Access): void {
  const { bank, authorisations } = context;
  const path = `/banks/${bank.id}/v1/consents/:consentId/authorisations`;
  const answer = (authorisation: Authorisation): object => ({
    ...scaFacts(context, authorisation),
    _links: {
      ...linksOf(context, authorisation),
      status: linkTo(context, `/consents/${authorisation.consentId}/status`),
    },
  });
  app.post(path, async (request, reply) => {
    const { consent } = await access.ownConsent(request);
    const password = passwordOf(bodyOf(request));
    const begun = start(context, consent, { psuId: headerOf(request, 'psu-id'), password });
    const self = linkTo(context, `/consents/${consent.id}/authorisations/${begun.id}`);
    return reply
      .code(201)
      .header('location', self.href)
      .header('aspsp-sca-approach', bank.approach.toUpperCase())
      .send({ authorisationId: begun.id, ...answer(begun) });
  });
  app.get(path, async (request, reply) => {
    const { consent } = await access.ownConsent(request);
    return reply.send({ authorisationIds: authorisations.listOf(consent).map((each) => each.id) });
  });
  app.get(`${path}/:authorisationId`, async (request, reply) => {
    const { consent } = await access.ownConsent(request);
    return reply.send({ scaStatus: own(context, request, consent).scaStatus });
  });
  app.put(`${path}/:authorisationId`, async (request, reply) => {
    const { consent } = await access.ownConsent(request);
    const updated = update(context, request, consent, own(context, request, consent));
    return reply.header('aspsp-sca-approach', bank.approach.toUpperCase()).send(answer(updated));
  });
}

function own({ bank, authorisations }: BerlinContext, request: FastifyRequest, consent: BerlinConsent): Authorisation {
  const { authorisationId } = request.params as { authorisationId: string };
  const found = authorisations.find(bank.id, authorisationId);
  if (!found || found.consentId !== consent.id) throw refusals.resourceUnknown('The authorisation');
  return found;
}

/** Takes what the PSU gave, in the order that the links demand (section 7.2). */
function update(
  context: BerlinContext,
  request: FastifyRequest,
  consent: BerlinConsent,
  authorisation: Authorisation,
): Authorisation {
  if (context.bank.approach !== 'embedded') throw refusals.service('The PSU decides at the bank');
  if (isFinal(authorisation.scaStatus)) throw refusals.status('The authorisation has ended');
  const members = bodyOf(request);
  const expect = (status: Authorisation['scaStatus'], what: string): void => {
    if (authorisation.scaStatus !== status) throw refusals.status(`${what} is not expected now`);
  };
  const password = passwordOf(members);
  if (password !== undefined) {
    expect('psuIdentified', 'A password');
    return authenticate(context, consent, authorisation, password);
  }
  const methodId = members.get('authenticationMethodId');
  if (typeof methodId === 'string') {
    expect('psuAuthenticated', 'A method');
    return choose(context, authorisation, methodId);
  }
  const code = members.get('scaAuthenticationData');
  if (typeof code === 'string') {
    expect('scaMethodSelected', 'A code');
    return confirm(context, consent, authorisation, code.trim());
  }
  throw refusals.format('body', 'The body holds nothing that the authorisation waits for');
}

function bodyOf(request: FastifyRequest): Map<string, unknown> {
  return request.body === undefined || request.body === null ? new Map() : membersOf(request.body, '');
}

function passwordOf(members: Map<string, unknown>): string | undefined {
  const data = members.get('psuData');
  if (data === undefined) return undefined;
  const password = membersOf(data, 'psuData').get('password');
  if (typeof password !== 'string') throw refusals.format('psuData.password', 'psuData.password is missing');
  return password;
}
