import { Inject, Injectable } from '@nestjs/common';
import type { Pool } from 'pg';
import { problems, type AccountRequest, type ConsentRecord, type PsuHeaders } from '#libs/contract';
import { operation, type Grant } from '#libs/connectors';
import { POOL } from '#libs/database';
import { now } from '#libs/server';
import { BankCalls } from '../consents/bank-calls.service.js';
import { renewedEnd } from '../consents/consent-clocks.js';
import { ConsentSecrets } from '../consents/consent-secrets.js';
import { mayRenew } from '../consents/consent-state.js';
import { moveConsent, type ConsentRow } from '../consents/consent.queries.js';
import { InstitutionsService } from '../institutions/institutions.service.js';
import { accountAccess } from './account-request.rules.js';
import { psuHeaderIssues } from './authorisation-request.rules.js';
import { ConsentOpening } from './consent-opening.service.js';
import { QrCodes } from './qr-codes.service.js';

/** Authorises an account consent again: its id and token stay, and when it does not work out it is what it was. */
@Injectable()
export class ReAuthorisation {
  constructor(
    @Inject(POOL) private readonly pool: Pool,
    private readonly secrets: ConsentSecrets,
    private readonly banks: BankCalls,
    private readonly institutions: InstitutionsService,
    private readonly opening: ConsentOpening,
    private readonly codes: QrCodes,
  ) {}

  /** PATCH /account-auth-requests, for consents that were authorised in a browser. */
  async begin(consent: ConsentRow, psu: PsuHeaders): Promise<ConsentRecord> {
    refuseUnfit(consent);
    const { id, status: from, institutionId, applicationId } = consent;
    const { data, connector } = this.institutions.require(institutionId);
    const issues = psuHeaderIssues(psu, data.requiredPsuHeaders);
    if (issues.length > 0) throw problems.unexpectedValues(issues);

    const initiate = operation(connector, 'INITIATE_ACCOUNT_REQUEST');
    const at = now();
    const request = this.requestOf(consent);
    const expiresAt = renewedEnd(request, at, data);
    const access = accountAccess(request, {
      featureScope: consent.featureScope,
      ...(expiresAt ? { expiresAt } : {}),
      ...(consent.transactionFrom ? { transactionFrom: consent.transactionFrom } : {}),
      ...(consent.transactionTo ? { transactionTo: consent.transactionTo } : {}),
    });
    const back = this.opening.back(institutionId);
    const renews = this.renewable(consent, at);
    const step = await this.institutions.asking(() =>
      initiate(this.banks.call({ psu }), { ...back, ...access, ...(renews === undefined ? {} : { renews }) }),
    );
    if (step.kind === 'rejected') throw problems.institutionFailed({ errorMessage: step.reason });
    if (step.kind !== 'redirect') {
      throw problems.featureNotSupported({ message: 'The institution does not authorise again in a browser' });
    }
    const links = this.codes.links(id, step.url);
    const moved = await moveConsent(this.pool, {
      id,
      from,
      to: 'AWAITING_RE_AUTHORIZATION',
      at,
      changes: {
        state: back.state,
        formerStatus: from,
        sealedPending: this.secrets.sealGrant(id, step.pending, 'pending'),
        sealedAnswer: null,
        callbackLeaseUntil: null,
        ...links.stored,
      },
    });
    if (!moved) throw problems.conflict({ message: 'The consent has meanwhile been changed by another call' });
    return { ...(await this.opening.shown(id, [applicationId])), ...links.shown };
  }

  /** The bank's consent, while it has not ended there: after its end only a new one at the bank helps. */
  private renewable({ id, sealedGrant }: ConsentRow, at: Date): Grant | undefined {
    if (sealedGrant === null) return undefined;
    const grant = this.secrets.openGrant(id, sealedGrant, 'grant');
    return grant.expiresAt === undefined || grant.expiresAt > at ? grant : undefined;
  }

  private requestOf({ id, sealedRequest }: ConsentRow): AccountRequest {
    return sealedRequest === null ? {} : this.secrets.openRequest<AccountRequest>(id, sealedRequest);
  }
}

function refuseUnfit({ kind, embedded, status }: ConsentRow): void {
  const message =
    kind !== 'account'
      ? 'Only account consents can be authorised again'
      : embedded
        ? 'The consent was authorised with credentials: create a new one'
        : mayRenew(status)
          ? undefined
          : 'The consent cannot be authorised again in its present status';
  if (message !== undefined) throw problems.unexpectedValue({ parameter: 'consent', message });
}
