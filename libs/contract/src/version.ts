import { applyDecorators } from '@nestjs/common';
import { ApiHeader, ApiQuery } from '@nestjs/swagger';
import type { Consent } from './consents/consent.dto.js';
import type { Enrichment } from './financial-data/enrichment.dto.js';
import type { Transaction } from './financial-data/transaction.dto.js';
import { header } from './headers.js';
import { problems } from './problem.js';

/** The versions of the interface (its part 9). The first applies when none is asked for. */
export const ApiVersion = { '1.0': '1.0', '2.0-ALPHA': '2.0-ALPHA' } as const;
export type ApiVersion = keyof typeof ApiVersion;

const spellings: Readonly<Record<string, ApiVersion>> = { '1': '1.0', '1.0': '1.0', '2.0-ALPHA': '2.0-ALPHA' };

/** The names of the header that chooses the version: with the word `service`, or with the service's own name instead. */
export function versionHeaders(serviceName: string): string[] {
  return [...new Set([header.apiVersion, `x-${serviceName.toLowerCase()}-api-version`])];
}

/**
 * The version that a request asks for; blank counts as absent. Throws the Problem that names the header whose value is
 * no version, or is another version than the other header's.
 */
export function readApiVersion(
  headers: Readonly<Record<string, string | string[] | undefined>>,
  serviceName: string,
): ApiVersion {
  let asked: ApiVersion | undefined;
  for (const name of versionHeaders(serviceName)) {
    const text = String(headers[name] ?? '').trim();
    if (text === '') continue;
    const version = Object.hasOwn(spellings, text) ? spellings[text] : undefined;
    const wanted = `${name} must be one of ${Object.keys(spellings).join(', ')}`;
    if (!version) throw problems.unexpectedValue({ parameter: name, message: wanted });
    const two = `${name} asks for another version than ${header.apiVersion}`;
    if (asked !== undefined && asked !== version) throw problems.unexpectedValue({ parameter: name, message: two });
    asked = version;
  }
  return asked ?? ApiVersion['1.0'];
}

/** The headers by which every answer says the version it speaks: the first, where the request asks for none that exists. */
export function spokenVersion(
  headers: Readonly<Record<string, string | string[] | undefined>>,
  serviceName: string,
): Record<string, ApiVersion> {
  const names = versionHeaders(serviceName);
  const asked = names.map((name) => String(headers[name] ?? '').trim()).find((text) => Object.hasOwn(spellings, text));
  const version = (asked === undefined ? undefined : spellings[asked]) ?? ApiVersion['1.0'];
  return Object.fromEntries(names.map((name) => [name, version]));
}

/** Documents the header that chooses the version. */
export function ApiVersionHeader(): ClassDecorator & MethodDecorator {
  const description = 'The version of the interface; the name of the service may stand in place of `service`.';
  const schema = { type: 'string', enum: Object.values(ApiVersion), default: ApiVersion['1.0'] };
  return applyDecorators(ApiHeader({ name: header.apiVersion, required: false, description, schema }));
}

/** Members of a consent that version 2 does not return, from one consent and from the list. */
const goneFromConsents = [
  'referenceId',
  'timeToExpire',
  'timeToExpireInMillis',
  'expiresAt',
  'authorizedAt',
  'featureScope',
  'transactionFrom',
  'transactionTo',
] as const satisfies (keyof Consent)[];

/** A consent as the version shows it where consents are read. */
export function consentIn(version: ApiVersion, consent: Consent): Consent {
  if (version === '1.0') return consent;
  const shown = { ...consent };
  for (const member of goneFromConsents) delete shown[member];
  return shown;
}

/** What `with` may ask the transactions for, and how else the interface spells it. */
export const TransactionDetail = { merchant: 'merchant', categorisation: 'categorisation' } as const;
export type TransactionDetail = keyof typeof TransactionDetail;

const details: Readonly<Record<string, TransactionDetail>> = {
  merchant: 'merchant',
  merchants: 'merchant',
  categorisation: 'categorisation',
  categories: 'categorisation',
};

/** Reads `with`, repeated or comma separated. Throws the Problem that names it when a value is unknown. */
export function readWith(value: unknown): ReadonlySet<TransactionDetail> {
  const given: unknown[] = Array.isArray(value) ? value : [value ?? ''];
  const words = given
    .flatMap((item) => (typeof item === 'string' ? item.split(',') : ['?']))
    .map((word) => word.trim());
  const asked = words.filter((word) => word !== '');
  const known = asked.map((word) => (Object.hasOwn(details, word) ? details[word] : undefined));
  const found = known.filter((detail) => detail !== undefined);
  const message = `with must be one of ${Object.keys(details).join(', ')}`;
  if (found.length < known.length) throw problems.unexpectedValue({ parameter: 'with', message });
  return new Set(found);
}

/** Documents `with`. */
export function ApiWithQuery(): MethodDecorator {
  const schema = { type: 'array', items: { type: 'string', enum: Object.values(TransactionDetail) } };
  return ApiQuery({ name: 'with', required: false, description: 'Enrichment to add, comma separated.', schema });
}

/**
 * A transaction with as much of its enrichment as was asked for. The hash is always shown; what belongs to neither the
 * merchant nor the category (the cleansed description, the place) accompanies either. Both versions agree on this.
 */
export function transactionWith(asked: ReadonlySet<TransactionDetail>, transaction: Transaction): Transaction {
  if (!transaction.enrichment) return transaction;
  const { merchant, categorisation, transactionHash, ...rest } = transaction.enrichment;
  const enrichment: Enrichment = {
    ...(transactionHash ? { transactionHash } : {}),
    ...(asked.size > 0 ? rest : {}),
    ...(merchant && asked.has('merchant') ? { merchant } : {}),
    ...(categorisation && asked.has('categorisation') ? { categorisation } : {}),
  };
  const { enrichment: _, ...shown } = transaction;
  return Object.keys(enrichment).length === 0 ? shown : { ...shown, enrichment };
}
