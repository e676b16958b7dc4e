import type { FastifyRequest } from 'fastify';
import { certificateOf, isBoundElsewhere } from '../client-certificate.js';
import { dateOf } from './bank-day.js';
import { isExpired, isHalfSigned, isOpen } from './consent-state.js';
import { isReadable, type BerlinConsent } from './consents.js';
import { headerOf, type BerlinContext } from './context.js';
import { refusals } from './error.js';

/** Who is calling: the TPP, and the PSU behind its token where the bank works with tokens. */
export interface Caller {
  clientId: string;
  persona: string | undefined;
}

/** What a call may do: the TPP's identity, the token of a pre-step, the consent and its daily budget. */
export class Access {
  constructor(private readonly context: BerlinContext) {}

  /** The TPP; where the bank wants its pre-step first, a call without a token is told where to get one (section 13.1). */
  async callerOf(request: FastifyRequest): Promise<Caller> {
    const { bank, tpps, provider, address } = this.context;
    const certificate = certificateOf(request.raw);
    if (typeof certificate === 'string') throw refusals.certificate(certificate);
    const { organisationIdentifier } = certificate;
    const tpp = tpps.find((each) => each.organisationIdentifier === organisationIdentifier);
    if (!tpp?.banks.includes(bank.id)) throw refusals.certificate('invalid', 'The bank does not know this TPP');
    const { clientId } = tpp;
    if (!provider) return { clientId, persona: undefined };
    const metadata = `${address}/.well-known/oauth-authorization-server`;
    if (bank.preStep === 'device' && request.headers.authorization === undefined)
      return { clientId, persona: undefined };
    const value = /^Bearer ([\w.~+/-]+=*)$/i.exec(request.headers.authorization ?? '')?.[1];
    if (value === undefined) throw refusals.token('TOKEN_UNKNOWN', 'The call needs a token', metadata);
    const token = await provider.AccessToken.find(value);
    if (token?.clientId !== clientId || isBoundElsewhere(token, request.raw))
      throw refusals.token('TOKEN_INVALID', 'The token is not valid', metadata);
    if (!token.scopes.has('AIS')) throw refusals.token('TOKEN_INVALID', 'The token is not for accounts', metadata);
    return { clientId, persona: token.accountId };
  }

  /** A consent of this TPP's own, named in a path. */
  async ownConsent(request: FastifyRequest): Promise<{ caller: Caller; consent: BerlinConsent }> {
    const caller = await this.callerOf(request);
    const { consentId } = request.params as { consentId: string };
    return { caller, consent: this.#consent(caller, consentId, 403) };
  }

  /** The consent that a reading call names in its header; it has to be valid. Counts nothing yet. */
  async toData(request: FastifyRequest): Promise<BerlinConsent> {
    const caller = await this.callerOf(request);
    const id = headerOf(request, 'consent-id');
    if (id === undefined) throw refusals.format('Consent-ID', 'Consent-ID is missing');
    const consent = this.#consent(caller, id, 400);
    if (isExpired(consent.status)) throw refusals.consentExpired();
    if (isHalfSigned(consent.status)) throw refusals.consentInvalid('Another person has to sign the consent');
    if (isOpen(consent.status)) throw refusals.consentInvalid('The PSU has not authorised the consent');
    if (!isReadable(consent)) throw refusals.consentInvalid('The consent has ended');
    return consent;
  }

  /**
   * Counts a read against `frequencyPerDay`, for each endpoint and account of its own. Reads that the PSU asks for are free on a
   * recurring consent: the PSU's address tells them (section 6.3.1). Later pages belong to the read that began them.
   */
  spend(request: FastifyRequest, consent: BerlinConsent, endpoint: string): void {
    const { store, clock, consents } = this.context;
    const isAttended = headerOf(request, 'psu-ip-address') !== undefined;
    if (isAttended && consent.ask.recurringIndicator) return consents.noteRead(consent);
    const day = dateOf(clock.now());
    const spent = store.get<{ count: number }>(
      'SELECT count FROM berlin_reads WHERE consentId = ? AND endpoint = ? AND day = ?',
      consent.id,
      endpoint,
      day,
    );
    if ((spent?.count ?? 0) >= consent.ask.frequencyPerDay) throw refusals.accessExceeded();
    store.run(
      'INSERT INTO berlin_reads (consentId, endpoint, day, count) VALUES (?, ?, ?, 1) ON CONFLICT (consentId, endpoint, day) DO UPDATE SET count = count + 1',
      consent.id,
      endpoint,
      day,
    );
    consents.noteRead(consent);
  }

  #consent({ clientId, persona }: Caller, id: string, status: 400 | 403): BerlinConsent {
    const consent = this.context.consents.find(this.context.bank.id, id);
    if (!consent || consent.clientId !== clientId) throw refusals.consentUnknown(status);
    // Where a token names the PSU, it reaches that PSU's consents alone.
    if (persona !== undefined && consent.psuId !== persona) throw refusals.consentUnknown(status);
    return consent;
  }
}
