import { Injectable } from '@nestjs/common';
import type { Institution } from '#libs/contract';
import { now } from '#libs/server';
import { MerchantAggregator } from '../aggregator/merchant-aggregator.js';
import { refusalOf } from '../aggregator/refusal.js';
import type { InstitutionQuery, InstitutionView } from './connection.dto.js';

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

  /** Those of the list that have all that is asked for. */
  async search({ name, country, features = [] }: InstitutionQuery): Promise<InstitutionView[]> {
    const part = name?.toLowerCase();
    const code = country?.toUpperCase();
    return (await this.list()).filter((institution) => {
      const names = [institution.name, institution.fullName ?? ''].map((each) => each.toLowerCase());
      return (
        (part === undefined || names.some((each) => each.includes(part))) &&
        (code === undefined || institution.countries.includes(code)) &&
        features.every((feature) => institution.features.includes(feature))
      );
    });
  }

  private async fetch(): Promise<InstitutionView[]> {
    const { data } = await this.aggregator.installation().getInstitutions();
    return data.flatMap(toView);
  }
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
