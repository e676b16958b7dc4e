import type { AuthorisationStatus, Feature } from '#libs/contract';
import { sourcesOf } from './consent-state.js';

/** A pool or a client inside a transaction. */
export interface Queryable {
  query<Row extends object>(text: string, values?: unknown[]): Promise<{ rows: Row[]; rowCount: number | null }>;
}

/** A consent as it is stored, with the two references of its user that the interface shows beside it. */
export interface ConsentRow {
  id: string;
  applicationId: string;
  userId: string;
  applicationUserId: string | null;
  referenceId: string | null;
  institutionId: string;
  kind: 'account' | 'payment';
  status: AuthorisationStatus;
  state: string;
  featureScope: Feature[];
  createdAt: Date;
  authorizedAt: Date | null;
  expiresAt: Date | null;
  lastConfirmedAt: Date | null;
  reconfirmBy: Date | null;
  transactionFrom: Date | null;
  transactionTo: Date | null;
  institutionConsentId: string | null;
  sealedPending: string | null;
  sealedGrant: string | null;
  sealedToken: string | null;
  callback: string | null;
  oneTimeToken: boolean;
  forwardParameters: string[] | Record<string, string> | null;
  sealedRequest: string | null;
  redirectUrl: string | null;
  sealedAnswer: string | null;
  sealedUrl: string | null;
  embedded: boolean;
  sealedSca: string | null;
  formerStatus: AuthorisationStatus | null;
}

/** What is written and never read back with a row. */
interface Unshown {
  tokenHash: string | null;
  callbackLeaseUntil: Date | null;
  qrId: string | null;
  checkedAt: Date | null;
}

type Stored = Omit<ConsentRow, 'applicationUserId' | 'referenceId'>;

const COLUMNS: Readonly<Record<keyof Stored, string>> = {
  id: 'id',
  applicationId: 'application_id',
  userId: 'user_id',
  institutionId: 'institution_id',
  kind: 'kind',
  status: 'status',
  state: 'state',
  featureScope: 'feature_scope',
  createdAt: 'created_at',
  authorizedAt: 'authorized_at',
  expiresAt: 'expires_at',
  lastConfirmedAt: 'last_confirmed_at',
  reconfirmBy: 'reconfirm_by',
  transactionFrom: 'transaction_from',
  transactionTo: 'transaction_to',
  institutionConsentId: 'institution_consent_id',
  sealedPending: 'sealed_pending',
  sealedGrant: 'sealed_grant',
  sealedToken: 'sealed_token',
  callback: 'callback',
  oneTimeToken: 'one_time_token',
  forwardParameters: 'forward_parameters',
  sealedRequest: 'sealed_request',
  redirectUrl: 'redirect_url',
  sealedAnswer: 'sealed_answer',
  sealedUrl: 'sealed_url',
  embedded: 'embedded',
  sealedSca: 'sealed_sca',
  formerStatus: 'former_status',
};
const WRITTEN: Readonly<Record<keyof (Stored & Unshown), string>> = {
  ...COLUMNS,
  tokenHash: 'token_hash',
  callbackLeaseUntil: 'callback_lease_until',
  qrId: 'qr_id',
  checkedAt: 'checked_at',
};

/** What a new consent starts with; an absent member is null, or false, until the institution has answered. */
export type NewConsent = Pick<
  Stored,
  'id' | 'applicationId' | 'userId' | 'institutionId' | 'kind' | 'status' | 'state' | 'featureScope' | 'createdAt'
> &
  Partial<Stored & Unshown>;

/** Values for the members a move changes; an absent member stays as it is. */
export type ConsentChanges = Partial<
  Omit<Stored & Unshown, 'id' | 'applicationId' | 'userId' | 'institutionId' | 'kind' | 'status' | 'createdAt'>
>;

const SELECT = `
  SELECT ${Object.entries(COLUMNS)
    .map(([member, column]) => `c.${column} AS "${member}"`)
    .join(', ')},
         u.application_user_id AS "applicationUserId", u.reference_id AS "referenceId"
    FROM consents c LEFT JOIN users u ON u.id = c.user_id`;

/** Names and values of the columns that `members` write. */
function columnsOf(members: Partial<Stored & Unshown>): { column: string; value: unknown }[] {
  return Object.entries(members).map(([member, value]) => ({
    column: WRITTEN[member as keyof typeof WRITTEN],
    // pg would write an array as a Postgres array, and this column is JSON.
    value: member === 'forwardParameters' && value !== null ? JSON.stringify(value) : value,
  }));
}

/** Writes a new consent. */
export async function insertConsent(db: Queryable, consent: NewConsent): Promise<void> {
  const columns = [...columnsOf(consent), { column: 'updated_at', value: consent.createdAt }];
  await db.query(
    `INSERT INTO consents (${columns.map(({ column }) => column).join(', ')})
     VALUES (${columns.map((_, index) => `$${index + 1}`).join(', ')})`,
    columns.map(({ value }) => value),
  );
}

/** One consent of these applications; undefined when it is unknown, foreign or deleted. */
export async function findConsent(
  db: Queryable,
  id: string,
  applicationIds: string[],
): Promise<ConsentRow | undefined> {
  const { rows } = await db.query<ConsentRow>(
    `${SELECT} WHERE c.id = $1 AND c.application_id = ANY($2) AND c.deleted_at IS NULL`,
    [id, applicationIds],
  );
  return rows[0];
}

/** A consent by its id alone, deleted or not. For work that goes on after its request, such as following a payment. */
export async function findAnyConsent(db: Queryable, id: string): Promise<ConsentRow | undefined> {
  const { rows } = await db.query<ConsentRow>(`${SELECT} WHERE c.id = $1`, [id]);
  return rows[0];
}

/** The consent whose token has this hash, within these applications. Runs on every data call. */
export async function findConsentByToken(
  db: Queryable,
  tokenHash: string,
  applicationIds: string[],
): Promise<ConsentRow | undefined> {
  const { rows } = await db.query<ConsentRow>(
    `${SELECT} WHERE c.token_hash = $1 AND c.application_id = ANY($2) AND c.deleted_at IS NULL`,
    [tokenHash, applicationIds],
  );
  return rows[0];
}

/** The consent that a bank's callback answers. The state is the secret here, so no application is asked for. */
export async function findConsentByState(db: Queryable, state: string): Promise<ConsentRow | undefined> {
  const { rows } = await db.query<ConsentRow>(`${SELECT} WHERE c.state = $1 AND c.deleted_at IS NULL`, [state]);
  return rows[0];
}

/**
 * Moves a consent to `to` from any status that allows it, or from `from` alone. A compare-and-set: false means that
 * another request moved it first, or that the move is not allowed, and nothing was changed.
 */
export async function moveConsent(
  db: Queryable,
  move: { id: string; to: AuthorisationStatus; from?: AuthorisationStatus; at: Date; changes?: ConsentChanges },
): Promise<boolean> {
  const allowed = sourcesOf(move.to).filter((status) => move.from === undefined || status === move.from);
  const values: unknown[] = [move.id, move.to, allowed, move.at];
  const assignments = columnsOf(move.changes ?? {}).map(({ column, value }) => {
    values.push(value);
    return `${column} = $${values.length}`;
  });
  const { rowCount } = await db.query(
    `UPDATE consents SET ${['status = $2', 'updated_at = $4', ...assignments].join(', ')}
      WHERE id = $1 AND status = ANY($3) AND deleted_at IS NULL`,
    values,
  );
  return rowCount === 1;
}

/** Records that the user wants access to go on; false when the consent has meanwhile come to another status. */
export async function confirmConsent(
  db: Queryable,
  confirmed: { id: string; statuses: AuthorisationStatus[]; lastConfirmedAt: Date; reconfirmBy: Date; at: Date },
): Promise<boolean> {
  const { id, statuses, lastConfirmedAt, reconfirmBy, at } = confirmed;
  const { rowCount } = await db.query(
    `UPDATE consents SET last_confirmed_at = $3, reconfirm_by = $4, updated_at = $5
      WHERE id = $1 AND status = ANY($2) AND deleted_at IS NULL`,
    [id, statuses, lastConfirmedAt, reconfirmBy, at],
  );
  return rowCount === 1;
}

/** What GET /consents filters by; an absent filter lets everything through. */
export interface ConsentFilter {
  applicationIds: string[];
  applicationUserIds?: string[] | undefined;
  userIds?: string[] | undefined;
  institutionIds?: string[] | undefined;
  statuses?: string[] | undefined;
  from?: Date | undefined;
  before?: Date | undefined;
  limit: number;
  offset: number;
}

/** One page, newest first, and how many there are in all. */
export async function listConsents(
  db: Queryable,
  filter: ConsentFilter,
): Promise<{ rows: ConsentRow[]; total: number }> {
  const values: unknown[] = [filter.applicationIds];
  const conditions = ['c.application_id = ANY($1)', 'c.deleted_at IS NULL'];
  const where = (condition: (parameter: string) => string, value: unknown): void => {
    if (value === undefined) return;
    values.push(value);
    conditions.push(condition(`$${values.length}`));
  };
  where((p) => `u.application_user_id = ANY(${p})`, filter.applicationUserIds);
  where((p) => `c.user_id = ANY(${p}::uuid[])`, filter.userIds);
  where((p) => `c.institution_id = ANY(${p})`, filter.institutionIds);
  where((p) => `c.status = ANY(${p})`, filter.statuses);
  where((p) => `c.created_at >= ${p}`, filter.from);
  where((p) => `c.created_at <= ${p}`, filter.before);
  const condition = conditions.join(' AND ');
  const counted = await db.query<{ total: number }>(
    `SELECT count(*)::int AS total FROM consents c LEFT JOIN users u ON u.id = c.user_id WHERE ${condition}`,
    values,
  );
  const page = await db.query<ConsentRow>(
    `${SELECT} WHERE ${condition} ORDER BY c.created_at DESC, c.id DESC
      LIMIT $${values.length + 1} OFFSET $${values.length + 2}`,
    [...values, filter.limit, filter.offset],
  );
  return { rows: page.rows, total: counted.rows[0]?.total ?? 0 };
}

/** The consent whose QR code has this name, while its user is awaited. The name is the secret here. */
export async function findConsentByQr(db: Queryable, qrId: string): Promise<ConsentRow | undefined> {
  const { rows } = await db.query<ConsentRow>(`${SELECT} WHERE c.qr_id = $1 AND c.deleted_at IS NULL`, [qrId]);
  return rows[0];
}

/** At which institutions these users have an authorised consent, each once and by name. */
export async function authorisedInstitutions(
  db: Queryable,
  userIds: string[],
  applicationIds: string[],
): Promise<{ userId: string; institutionId: string }[]> {
  const { rows } = await db.query<{ userId: string; institutionId: string }>(
    `SELECT DISTINCT user_id AS "userId", institution_id AS "institutionId"
       FROM consents
      WHERE user_id = ANY($1::uuid[]) AND application_id = ANY($2) AND status = 'AUTHORIZED' AND deleted_at IS NULL
      ORDER BY institution_id`,
    [userIds, applicationIds],
  );
  return rows;
}

/** The consents of a user that are not deleted. */
export async function consentsOfUser(db: Queryable, userId: string, applicationIds: string[]): Promise<ConsentRow[]> {
  const { rows } = await db.query<ConsentRow>(
    `${SELECT} WHERE c.user_id = $1 AND c.application_id = ANY($2) AND c.deleted_at IS NULL ORDER BY c.created_at`,
    [userId, applicationIds],
  );
  return rows;
}

/**
 * Takes a consent out of sight. Its secrets go with it, except the grant of a payment that is still followed; the row
 * stays, because payments refer to it. False when another request deleted it first.
 */
export async function deleteConsent(db: Queryable, id: string, at: Date): Promise<boolean> {
  const { rowCount } = await db.query(
    `UPDATE consents c
        SET deleted_at = $2, updated_at = $2, token_hash = NULL, sealed_token = NULL, sealed_pending = NULL,
            sealed_answer = NULL, sealed_url = NULL, sealed_sca = NULL, callback_lease_until = NULL,
            sealed_grant = CASE WHEN EXISTS (SELECT 1 FROM payments p WHERE p.consent_id = c.id AND p.next_poll_at IS NOT NULL)
                                THEN sealed_grant END
      WHERE id = $1 AND deleted_at IS NULL`,
    [id, at],
  );
  return rowCount === 1;
}
