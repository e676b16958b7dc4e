/** A row as the columns of the table have it. */
export interface ExportRow {
  id: string;
  account_id: string;
  date: Date;
  booked_at: Date | null;
  value_at: Date | null;
  status: string;
  amount: string | null;
  currency: string | null;
  description: string | null;
  bank_id: string | null;
}

const names = [
  'id',
  'accountId',
  'date',
  'bookingDateTime',
  'valueDateTime',
  'status',
  'amount',
  'currency',
  'description',
  'institutionTransactionId',
];

/** The first line (RFC 4180, section 2). */
export const csvHeader = `${names.join(',')}\r\n`;

/** One row. Amounts keep their sign; what a bank or a payee wrote is made harmless. */
export function csvLine(row: ExportRow): string {
  const cells = [
    row.id,
    row.account_id,
    row.date.toISOString(),
    row.booked_at?.toISOString() ?? '',
    row.value_at?.toISOString() ?? '',
    row.status,
    row.amount ?? '',
    text(row.currency),
    text(row.description),
    text(row.bank_id),
  ];
  return `${cells.join(',')}\r\n`;
}

/**
 * A cell of foreign text. A spreadsheet takes a cell that begins with one of these for a formula and would run it; an apostrophe
 * before it makes it text again.
 */
function text(value: string | null): string {
  if (value === null) return '';
  const harmless = /^[=+\-@\t\r\n]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
