import { Inject, Injectable } from '@nestjs/common';
import type { Pool } from 'pg';
import {
  pageSizeMax,
  parseDateTime,
  problems,
  type Consent,
  type ConsentDeleteResponse,
  type ExtendConsentRequest,
  type OffsetPage,
} from '#libs/contract';
import type { InstitutionError } from '#libs/connectors';
import { POOL } from '#libs/database';
import { now } from '#libs/server';
import type { Tenant } from '../auth/tenant.js';
import { BankCalls, institutionErrorOf } from './bank-calls.service.js';
import { ConsentSecrets, oneTimeTokenHash } from './consent-secrets.js';
import { reconfirmBy } from './consent-clocks.js';
import { confirmableStatuses, isOverdue, isPolled, isTerminal } from './consent-state.js';
import { expireConsent } from './consent-sweep.queries.js';
import { ConsentSteps } from './consent-steps.service.js';
import { toConsent, toDeleted } from './consent.map.js';
import {
  authorisedInstitutions,
  confirmConsent,
  consentsOfUser,
  deleteConsent,
  findConsent,
  listConsents,
  type ConsentRow,
} from './consent.queries.js';
import type { ConsentsFilter } from './consents.filter.js';
import { KnownConsents } from './known-consents.service.js';
import { redeemOneTimeToken } from './one-time-token.queries.js';

/** How long one confirmation of continued access counts. */
const CONFIRMED_DAYS = 90;

/** Lists, shows, ends and hands out consents. */
@Injectable()
export class ConsentsService {
  constructor(
    @Inject(POOL) private readonly pool: Pool,
    private readonly secrets: ConsentSecrets,
    private readonly banks: BankCalls,
    private readonly steps: ConsentSteps,
    private readonly known: KnownConsents,
  ) {}

  /** One page, newest first; without a limit 1000, as many as the interface ever answers at once. */
  async list(
    tenant: Tenant,
    filter: ConsentsFilter,
  ): Promise<{ consents: Consent[]; total: number; page: OffsetPage }> {
    const page = pageOf(filter);
    const { rows, total } = await listConsents(this.pool, {
      applicationIds: tenant.scopeIds,
      applicationUserIds: filter['filter[applicationUserId]'],
      userIds: filter['filter[userUuid]'],
      institutionIds: filter['filter[institution]'],
      statuses: filter['filter[status]'],
      ...page,
    });
    return { consents: rows.map((row) => this.show(row)), total, page };
  }

  /**
   * One consent; 404 when it is unknown or foreign. Where nobody comes back from the bank, the bank is asked first: polling
   * this is how a client learns that its user has confirmed on another device. One that is past its end is expired at once.
   */
  async get(tenant: Tenant, id: string): Promise<Consent> {
    const row = (await this.known.byId(id, tenant.scopeIds)) ?? (await this.find(tenant, id));
    const at = now();
    if (isOverdue(row, at)) await expireConsent(this.pool, id, at);
    else if (isPolled(row.status)) await this.steps.check(row);
    else return this.show(row);
    return this.show(await this.find(tenant, id));
  }

  /** Records that the user confirmed continued access at this instant; no bank takes part. */
  async extend(tenant: Tenant, id: string, { lastConfirmedAt: text }: ExtendConsentRequest): Promise<Consent> {
    const row = await this.find(tenant, id);
    const at = now();
    const lastConfirmedAt = parseDateTime(text);
    if (lastConfirmedAt === undefined) throw problems.unexpectedValue({ parameter: '$.lastConfirmedAt' });
    if (lastConfirmedAt > at) {
      const message = 'lastConfirmedAt cannot be a future date and time';
      throw problems.unexpectedValue({ parameter: '$.lastConfirmedAt', message });
    }
    const statuses = confirmableStatuses();
    const confirmed = { id, statuses, lastConfirmedAt, reconfirmBy: reconfirmBy(lastConfirmedAt, CONFIRMED_DAYS), at };
    if (row.kind !== 'account' || !(await confirmConsent(this.pool, confirmed))) {
      const message = `Only an account consent that is ${statuses.join(' or ')} can be extended`;
      throw problems.unexpectedValue({ parameter: 'consentId', message });
    }
    return this.show(await this.find(tenant, id));
  }

  /**
   * Ends a consent at the institution and here. With `force` it ends here even if the institution refuses; without, a
   * refusal keeps it and is answered as FAILED. The institution comes first and a second ending there is harmless, so a
   * crash in between is mended by deleting again.
   */
  async remove(tenant: Tenant, id: string, force: boolean): Promise<ConsentDeleteResponse> {
    return this.end(await this.find(tenant, id), force);
  }

  /** Ends every consent of a user; what the institutions say does not keep any of them. */
  async deleteForUser(tenant: Tenant, userId: string): Promise<ConsentDeleteResponse[]> {
    const answers: ConsentDeleteResponse[] = [];
    for (const row of await consentsOfUser(this.pool, userId, tenant.scopeIds)) answers.push(await this.end(row, true));
    return answers;
  }

  /** The institutions at which each of these users has an authorised consent now; users without one are absent. */
  async institutionsOfUsers(tenant: Tenant, userIds: string[]): Promise<Map<string, string[]>> {
    const found = new Map<string, string[]>();
    for (const { userId, institutionId } of await authorisedInstitutions(this.pool, userIds, tenant.scopeIds)) {
      found.set(userId, [...(found.get(userId) ?? []), institutionId]);
    }
    return found;
  }

  /** Exchanges a one-time token for its consent, once and within ten minutes; 404 otherwise. */
  async exchange({ scopeIds }: Tenant, oneTimeToken: string): Promise<Consent> {
    const consentId = await redeemOneTimeToken(this.pool, oneTimeTokenHash(oneTimeToken), scopeIds, now());
    const row = consentId === undefined ? undefined : await findConsent(this.pool, consentId, scopeIds);
    if (row === undefined) {
      throw problems.notFound({
        parameter: '$.oneTimeToken',
        message: 'The one-time token is unknown, used or too old',
      });
    }
    return this.show(row);
  }

  private async find({ scopeIds }: Tenant, id: string): Promise<ConsentRow> {
    const row = await findConsent(this.pool, id, scopeIds);
    if (row === undefined) throw problems.notFound({ parameter: 'consentId', message: 'There is no such consent' });
    return row;
  }

  private show(row: ConsentRow): Consent {
    const token = row.sealedToken === null ? undefined : this.secrets.openToken(row.id, row.sealedToken);
    return toConsent(row, now(), token);
  }

  private async end(row: ConsentRow, force: boolean): Promise<ConsentDeleteResponse> {
    const refusal = await this.endAtInstitution(row);
    if (refusal !== undefined && !force) return toDeleted(row, 'FAILED');
    await deleteConsent(this.pool, row.id, now());
    return toDeleted(row, 'SUCCESS');
  }

  /** A payment consent ends by itself and cannot be taken back (UK Open Banking, payment consents), so only data access is. */
  private async endAtInstitution(row: ConsentRow): Promise<InstitutionError | undefined> {
    if (row.kind !== 'account' || isTerminal(row.status)) return undefined;
    const bank = this.banks.open(row, { psu: {} });
    if (bank === undefined) return undefined;
    try {
      await bank.connector.revoke(bank.call);
      return undefined;
    } catch (error) {
      const refusal = institutionErrorOf(error);
      if (refusal === undefined) throw error;
      return refusal;
    }
  }
}

function pageOf(filter: ConsentsFilter): OffsetPage {
  const from = filter.from === undefined ? undefined : parseDateTime(filter.from);
  const before = filter.before === undefined ? undefined : parseDateTime(filter.before);
  if (from && before && from > before) {
    throw problems.unexpectedValue({ parameter: 'from', message: 'from must not be after before' });
  }
  return {
    ...(from ? { from } : {}),
    ...(before ? { before } : {}),
    limit: filter.limit ?? pageSizeMax,
    sort: '-date',
    offset: filter.offset ?? 0,
  };
}
