import { Injectable } from '@nestjs/common';
import type { Institution } from '#libs/contract';
import { now } from '#libs/server';
import { MerchantAggregator } from '../aggregator/merchant-aggregator.js';
import { refusalOf } from '../aggregator/refusal.js';
import { readIdCursor, refusedCursor, writeIdCursor } from '../cursor.js';
import type { InstitutionList, InstitutionQuery, InstitutionView } from './connection.dto.js';

const keptMs = 60_000;

/** The institutions a customer may choose from. */
@Injectable()
export class InstitutionsService {
  private kept: { until: number; list: Promise<InstitutionView[]> } | undefined;

  constructor(private readonly aggregator: MerchantAggregator) {}

  /** The aggregator's list, asked for at most once a minute; a failed answer is not kept. */
  async list(): Promise<InstitutionView[]> {
    const at = now().getTime();
    if (this.kept && this.kept.until > at) return this.kept.list;
    const list = this.fetch();
    this.kept = { until: at + keptMs, list };
    try {
      return await list;
    } catch (error) {
      this.kept = undefined;
      throw refusalOf(error);
    }
  }

  /** A page of those that have all that is asked for, by name. */
  async search(query: InstitutionQuery): Promise<InstitutionList> {
    const { name, country, features = [], limit = 100, cursor } = query;
    const list = ['institutions', name, country, features];
    const found = (await this.list()).filter((institution) => fits(institution, query));
    const after = cursor === undefined ? undefined : readIdCursor(cursor, list);
    const start = after === undefined ? 0 : found.findIndex(({ id }) => id === after) + 1;
    if (after !== undefined && start === 0) throw refusedCursor();
    const data = found.slice(start, start + limit);
    const last = data.at(-1);
    if (last === undefined || start + limit >= found.length) return { data, hasMore: false };
    return { data, hasMore: true, nextCursor: writeIdCursor(last.id, list) };
  }

  private async fetch(): Promise<InstitutionView[]> {
    const { data } = await this.aggregator.installation().getInstitutions();
    return data
      .flatMap(toView)
      .toSorted((one, other) => byName.compare(one.name, other.name) || byName.compare(one.id, other.id));
  }
}

const byName = new Intl.Collator('en', { sensitivity: 'base', numeric: true });

function fits(institution: InstitutionView, { name, country, features = [] }: InstitutionQuery): boolean {
  const names = [institution.name, institution.fullName ?? ''].map(plain);
  return (
    (name === undefined || names.some((each) => each.includes(plain(name)))) &&
    (country === undefined || institution.countries.includes(country.toUpperCase())) &&
    features.every((feature) => institution.features.includes(feature))
  );
}

/** In small letters without accents, as people type. */
function plain(text: string): string {
  return text.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase();
}

/** An institution that has no id cannot be chosen. */
function toView(institution: Partial<Institution>): InstitutionView[] {
  const { id, name, fullName, countries = [], media = [], features = [] } = institution;
  if (id === undefined) return [];
  const logo = (media.find(({ type }) => type === 'icon') ?? media[0])?.source;
  return [
    {
      id,
      name: name ?? id,
      ...(fullName === undefined ? {} : { fullName }),
      countries: countries.flatMap(({ countryCode2 }) => (countryCode2 === undefined ? [] : [countryCode2])),
      ...(logo === undefined ? {} : { logo }),
      media: media.flatMap(({ type, source }) => (source === undefined ? [] : [{ type: type ?? '', source }])),
      features: [...features],
    },
  ];
}
