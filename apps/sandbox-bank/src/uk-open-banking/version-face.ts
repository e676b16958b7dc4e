import type { UkBank } from '../banks.js';
import { asSent, debitFrequencies, intervals, names, unknown, words } from './version-words.js';

type Version = UkBank['version'];
type Members = Record<string, unknown>;

/** A body of v4.0 as a bank of this version says it. */
export function toVersion(version: Version, body: object): object {
  return version === 'v4.0' ? body : (translate(body, '') as object);
}

function translate(value: unknown, parent: string): unknown {
  if (Array.isArray(value)) return value.map((each) => translate(each, parent));
  if (typeof value !== 'object' || value === null) return value;
  const told: Members = {};
  for (const [name, member] of Object.entries(value)) {
    if (unknown.has(`${parent}.${name}`)) continue;
    if (name === 'MandateRelatedInformation') Object.assign(told, mandateOf(member as Mandate, value));
    else if (name === 'RemittanceInformation') Object.assign(told, referenceOf(member as Remittance));
    else told[names[name] ?? name] = wordFor(name, member, parent);
  }
  return told;
}

function wordFor(name: string, member: unknown, parent: string): unknown {
  if (asSent.has(name)) return member;
  if (typeof member !== 'string') return translate(member, name);
  const table = words[`${parent}.${name}`] ?? words[name];
  return table?.[member] ?? member;
}

interface Mandate {
  MandateIdentification?: string;
  FirstPaymentDateTime?: string;
  Frequency: { Type: string; PointInTime?: string };
}
interface Remittance {
  Structured?: { CreditorReferenceInformation?: { Reference?: string } }[];
}

/** v3.1 has the mandate's members beside the others, and its own way to write a frequency. */
function mandateOf({ MandateIdentification, FirstPaymentDateTime, Frequency }: Mandate, of: object): object {
  const { Type, PointInTime = '01' } = Frequency;
  return 'DirectDebitId' in of
    ? { MandateIdentification, Frequency: debitFrequencies[Type] ?? 'UK.OBIE.NotKnown' }
    : { Frequency: `IntrvlMnthDay:${intervals[Type] ?? '01'}:${PointInTime}`, FirstPaymentDateTime };
}

function referenceOf({ Structured }: Remittance): object {
  return { Reference: Structured?.[0]?.CreditorReferenceInformation?.Reference };
}
