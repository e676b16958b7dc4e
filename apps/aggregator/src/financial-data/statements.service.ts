import { Injectable } from '@nestjs/common';
import type { AccountStatement, OffsetPage, PsuHeaders } from '#libs/contract';
import { InstitutionError, operation, type StatementFile } from '#libs/connectors';
import type { ConsentRow } from '../consents/consent.queries.js';
import { BankReads, type Reading } from './bank-reads.service.js';
import { OffsetPages } from './offset-pages.service.js';
import { newestFirst } from './row-window.js';
import type { Rows } from './snapshots.service.js';

/** Which statement of which account. */
export interface StatementName {
  accountId: string;
  statementId: string;
}

/** Statements by offset, one by one, and as the bank's own documents. */
@Injectable()
export class StatementsService {
  constructor(
    private readonly reads: BankReads,
    private readonly pages: OffsetPages,
  ) {}

  /** One page, each row the JSON text of a statement. */
  async page(consent: ConsentRow, psu: PsuHeaders, accountId: string, page: OffsetPage): Promise<Rows> {
    const reading: Reading = { psu, anyOf: ['ACCOUNT_STATEMENTS'] };
    this.reads.permit(consent, reading);
    return this.pages.page(consent, {
      page,
      parts: ['statements', accountId],
      walk: async (window) => {
        // A bank filters by the period that a statement covers, the interface by its date: so all are asked for.
        const found = await this.reads.walk(consent, reading, ({ connector, call }, cursor) =>
          operation(connector, 'ACCOUNT_STATEMENTS')(call, accountId, cursor === undefined ? {} : { cursor }),
        );
        return newestFirst(found, window, dateOf).map((statement) => JSON.stringify(statement));
      },
    });
  }

  /** One statement; 404 when the bank does not know it. */
  async get(
    consent: ConsentRow,
    psu: PsuHeaders,
    { accountId, statementId }: StatementName,
  ): Promise<AccountStatement> {
    const reading: Reading = { psu, anyOf: ['ACCOUNT_STATEMENT'], parameter: 'statementId' };
    return this.reads.read(consent, reading, ({ connector, call }) =>
      operation(connector, 'ACCOUNT_STATEMENT')(call, accountId, statementId),
    );
  }

  /** The document; 424 when what the bank sends is none, for the interface promises `application/pdf`. */
  async file(consent: ConsentRow, psu: PsuHeaders, { accountId, statementId }: StatementName): Promise<StatementFile> {
    const reading: Reading = { psu, anyOf: ['ACCOUNT_STATEMENT_FILE'], parameter: 'statementId' };
    return this.reads.read(consent, reading, async ({ connector, call }) => {
      const file = await operation(connector, 'ACCOUNT_STATEMENT_FILE')(call, accountId, statementId);
      if (/^application\/pdf\b/i.test(file.contentType)) return file;
      throw new InstitutionError('malformed', 'The institution sent a document that is no PDF', { httpStatus: 200 });
    });
  }
}

function dateOf({ creationDateTime, endDateTime, startDateTime }: AccountStatement): string | undefined {
  return creationDateTime ?? endDateTime ?? startDateTime;
}
