import type { FastifyInstance } from 'fastify';
import { contactOf } from '../persona-contacts.js';
import { findPersona } from '../personas.js';
import { Random } from '../random.js';
import { accountIdOf, need, sharedAccount, type AccountRoutes } from './account-data.js';

/** Read/Write v4.0: the holder of an account (ReadParty), and the person who logged in (ReadPartyPSU). */
export function registerParties(app: FastifyInstance, { context, access, ledger }: AccountRoutes): void {
  const { bank, resources } = context;
  const api = `/open-banking/${bank.version}/aisp`;
  const answer = (Party: object | object[], self: string): object => ({
    Data: { Party },
    Links: { Self: `${resources}${api}${self}` },
    Meta: { TotalPages: 1 },
  });
  for (const resource of ['party', 'parties'] as const) {
    app.get(`/banks/${bank.id}${api}/accounts/:accountId/${resource}`, async (request) => {
      const consent = await access.toData(request);
      need(consent, 'ReadParty');
      const account = sharedAccount(ledger, consent, accountIdOf(request));
      const holder = toParty(bank.id, account.persona);
      return answer(resource === 'party' ? holder : [holder], `/accounts/${account.id}/${resource}`);
    });
  }
  app.get(`/banks/${bank.id}${api}/party`, async (request) => {
    const consent = await access.toData(request);
    need(consent, 'ReadPartyPSU');
    return answer(toParty(bank.id, consent.persona ?? ''), '/party');
  });
}

function toParty(bank: string, persona: string): object {
  const name = findPersona(persona)?.name;
  const contact = contactOf(persona);
  const dice = new Random(`party|${bank}|${persona}`);
  return {
    PartyId: dice.hex(16),
    PartyNumber: dice.digits(10),
    PartyType: 'Sole',
    Name: name,
    FullLegalName: name,
    LegalStructure: 'UK.OBIE.Individual',
    AccountRole: 'UK.OBIE.Principal',
    ...(contact && {
      EmailAddress: contact.email,
      Mobile: contact.mobile,
      Address: [
        {
          AddressType: 'HOME',
          StreetName: contact.street,
          BuildingNumber: contact.building,
          PostCode: contact.postCode,
          TownName: contact.town,
          Country: 'GB',
        },
      ],
    }),
  };
}
