import type { UkBank } from '../banks.js';
import { isIban } from '../identifiers.js';
import { toMinor } from '../money.js';
import { memberOf } from './account-consents.js';
import type { ConsentRequest } from './consents.js';
import { schemeOf } from './debtor.js';
import { refusals } from './error.js';

const dataMembers = new Set(['ReadRefundAccount', 'Initiation', 'Authorisation', 'SCASupportData']);
const initiationMembers = new Set([
  'InstructionIdentification',
  'EndToEndIdentification',
  'LocalInstrument',
  'InstructedAmount',
  'DebtorAccount',
  'CreditorAgent',
  'CreditorAccount',
  'CreditorPostalAddress',
  'UltimateCreditor',
  'UltimateDebtor',
  'RegulatoryReporting',
  'RemittanceInformation',
  'SupplementaryData',
]);

/** Checks the body of a domestic payment consent (OBWriteDomesticConsent4); throws the refusal of the first fault. */
export function readPaymentConsent(body: unknown, version: UkBank['version']): ConsentRequest {
  const data = objectOf(memberOf(body, 'Data'), 'Data');
  const risk = objectOf(memberOf(body, 'Risk'), 'Risk');
  refuseOthers(data, dataMembers, 'Data');
  const initiation = objectOf(data['Initiation'], 'Data.Initiation');
  refuseOthers(initiation, initiationMembers, 'Data.Initiation');
  textOf(initiation, 'InstructionIdentification', 35);
  textOf(initiation, 'EndToEndIdentification', 35);
  checkAmount(objectOf(initiation['InstructedAmount'], 'Data.Initiation.InstructedAmount'));
  checkAccount(
    objectOf(initiation['CreditorAccount'], 'Data.Initiation.CreditorAccount'),
    'Data.Initiation.CreditorAccount',
    true,
  );
  if (initiation['DebtorAccount'] !== undefined)
    checkAccount(
      objectOf(initiation['DebtorAccount'], 'Data.Initiation.DebtorAccount'),
      'Data.Initiation.DebtorAccount',
      false,
    );
  if (initiation['RemittanceInformation'] !== undefined)
    remittanceChecks[version](objectOf(initiation['RemittanceInformation'], remittancePath));
  const refund = data['ReadRefundAccount'];
  if (refund !== undefined && refund !== 'Yes' && refund !== 'No')
    throw refusals.fieldInvalid('Data.ReadRefundAccount', 'Data.ReadRefundAccount must be Yes or No');
  return { data, risk };
}

export function objectOf(value: unknown, path: string): Record<string, unknown> {
  if (value === undefined) throw refusals.fieldMissing(path);
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw refusals.fieldInvalid(path, `${path} must be an object`);
  return Object.fromEntries(Object.entries(value));
}

function refuseOthers(value: Record<string, unknown>, known: ReadonlySet<string>, path: string): void {
  const other = Object.keys(value).find((name) => !known.has(name));
  if (other !== undefined) throw refusals.fieldUnexpected(`${path}.${other}`);
}

function textOf(parent: Record<string, unknown>, name: string, max: number, path = 'Data.Initiation'): string {
  const value = parent[name];
  if (value === undefined) throw refusals.fieldMissing(`${path}.${name}`);
  if (typeof value !== 'string' || value.trim() === '' || value.length > max)
    throw refusals.fieldInvalid(`${path}.${name}`, `${path}.${name} must be a text of at most ${max} characters`);
  return value;
}

function checkAmount(amount: Record<string, unknown>): void {
  const path = 'Data.Initiation.InstructedAmount';
  const text = textOf(amount, 'Amount', 19, path);
  if (toMinor(text) === undefined)
    throw refusals.fieldInvalid(`${path}.Amount`, `${path}.Amount must be an amount of whole pence above zero`);
  if (textOf(amount, 'Currency', 3, path) !== 'GBP') throw refusals.unsupportedCurrency(`${path}.Currency`);
}

function checkAccount(account: Record<string, unknown>, path: string, isNamed: boolean): void {
  const scheme = schemeOf(textOf(account, 'SchemeName', 40, path));
  const identification = textOf(account, 'Identification', 256, path);
  if (isNamed) textOf(account, 'Name', 350, path);
  if (scheme !== 'SortCodeAccountNumber' && scheme !== 'IBAN') throw refusals.unsupportedScheme(`${path}.SchemeName`);
  const isKnown = scheme === 'IBAN' ? isIban(identification) : /^\d{14}$/.test(identification);
  if (!isKnown) throw refusals.unsupportedAccount(`${path}.Identification`);
}

const remittancePath = 'Data.Initiation.RemittanceInformation';
const remittanceChecks = { 'v3.1': checkPlainRemittance, 'v4.0': checkRemittance } as const;

/** v3.1: one free text, one reference. */
function checkPlainRemittance(remittance: Record<string, unknown>): void {
  refuseOthers(remittance, new Set(['Unstructured', 'Reference']), remittancePath);
  if (remittance['Unstructured'] !== undefined) textOf(remittance, 'Unstructured', 140, remittancePath);
  if (remittance['Reference'] !== undefined) textOf(remittance, 'Reference', 35, remittancePath);
}

function checkRemittance(remittance: Record<string, unknown>): void {
  const path = remittancePath;
  refuseOthers(remittance, new Set(['Structured', 'Unstructured']), path);
  const { Structured, Unstructured } = remittance;
  const isTextList =
    Array.isArray(Unstructured) && Unstructured.every((line) => typeof line === 'string' && line.length <= 140);
  if (Unstructured !== undefined && !isTextList)
    throw refusals.fieldInvalid(
      `${path}.Unstructured`,
      `${path}.Unstructured must be a list of texts of at most 140 characters`,
    );
  if (Structured === undefined) return;
  if (!Array.isArray(Structured))
    throw refusals.fieldInvalid(`${path}.Structured`, `${path}.Structured must be a list`);
  const reference = memberOf(memberOf(Structured[0], 'CreditorReferenceInformation'), 'Reference');
  if (reference !== undefined && (typeof reference !== 'string' || reference.length > 35)) {
    throw refusals.fieldInvalid(
      `${path}.Structured[0].CreditorReferenceInformation.Reference`,
      'The reference must be a text of at most 35 characters',
    );
  }
}

/** Whether two parsed bodies say the same, whatever the order of their members. */
export function isSame(one: unknown, other: unknown): boolean {
  if (typeof one !== 'object' || one === null || typeof other !== 'object' || other === null) return one === other;
  if (Array.isArray(one) !== Array.isArray(other)) return false;
  const left = Object.entries(one);
  const right = new Map<string, unknown>(Object.entries(other));
  return left.length === right.size && left.every(([name, value]) => right.has(name) && isSame(value, right.get(name)));
}
