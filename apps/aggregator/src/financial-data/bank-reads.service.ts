import { Injectable } from '@nestjs/common';
import { header, problems, type Feature, type Issue, type PsuHeaders } from '#libs/contract';
import { InstitutionError, walkPages, WalkLimitError, type Institution, type Page } from '#libs/connectors';
import { now } from '#libs/server';
import { BankCalls, type OpenConsent } from '../consents/bank-calls.service.js';
import { requireFeature } from '../consents/consent-scope.js';
import type { ConsentRow } from '../consents/consent.queries.js';
import { InstitutionsService } from '../institutions/institutions.service.js';

/** One reading of an institution under a consent. */
export interface Reading {
  psu: PsuHeaders;
  /** The features of which one is enough. */
  anyOf: readonly Feature[];
  /** The parameter that names what the institution may not know; `accountId` unless said. */
  parameter?: 'accountId' | 'statementId';
  /** The operation has PSU headers, so an institution may demand them. */
  demandsPsu?: boolean;
}

/** Reads from institutions on every call: nothing that is read here is kept. */
@Injectable()
export class BankReads {
  constructor(
    private readonly banks: BankCalls,
    private readonly institutions: InstitutionsService,
  ) {}

  /** Refuses what the institution lacks (424), the consent does not cover (403) or the institution wants to know (400). */
  permit({ institutionId, featureScope }: ConsentRow, { anyOf, psu, demandsPsu = false }: Reading): Institution {
    const { data, features } = this.institutions.require(institutionId);
    requireFeature(anyOf, { offered: features, scope: featureScope });
    const issues = demandsPsu ? missingHeaders(data, psu) : [];
    if (issues.length > 0) throw problems.unexpectedValues(issues);
    return data;
  }

  /** What the institution answers; what it does not know is 404, and what it cannot say 424. */
  async read<T>(consent: ConsentRow, reading: Reading, ask: (bank: OpenConsent) => Promise<T>): Promise<T> {
    this.permit(consent, reading);
    const bank = this.banks.openGranted(consent, { psu: reading.psu });
    return this.banks.ask(consent, () => orNotFound(ask(bank), reading));
  }

  /** Every row of every page; more than the institution's bounds allow is refused, never cut. */
  async walk<T extends { id?: string }>(
    consent: ConsentRow,
    reading: Reading,
    ask: (bank: OpenConsent, cursor: string | undefined) => Promise<Page<T>>,
  ): Promise<T[]> {
    const { pageBounds: bounds } = this.permit(consent, reading);
    const bank = this.banks.openGranted(consent, { psu: reading.psu, timeoutMs: bounds.ms });
    return this.banks.ask(consent, async () => {
      try {
        return await walkPages((cursor) => orNotFound(ask(bank, cursor), reading), { bounds, now });
      } catch (error) {
        if (!(error instanceof WalkLimitError)) throw error;
        throw problems.tooManyRecords({ parameter: 'from', message: error.message });
      }
    });
  }
}

/** What the bank does not know is the caller's mistake, not the bank's failure. */
async function orNotFound<T>(answer: Promise<T>, { parameter = 'accountId' }: Reading): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if (!(error instanceof InstitutionError) || error.kind !== 'not-found') throw error;
    const unknown = parameter === 'accountId' ? 'account' : 'statement';
    throw problems.notFound({ parameter, message: `The institution knows no such ${unknown}` });
  }
}

const psuHeaders = {
  id: { name: header.psuId, member: 'psuId' },
  corporateId: { name: header.psuCorporateId, member: 'psuCorporateId' },
  ipAddress: { name: header.psuIpAddress, member: 'psuIpAddress' },
} as const;

function missingHeaders({ psuHeadersOfReads = [] }: Institution, psu: PsuHeaders): Issue[] {
  return Object.entries(psuHeaders)
    .filter(([name, { member }]) => psuHeadersOfReads.some((wanted) => wanted === name) && psu[member] === undefined)
    .flatMap(([, { name: parameter }]) => {
      return problems.unexpectedValue({ parameter, message: `${parameter} is mandatory at this institution` }).issues;
    });
}
