import { Injectable } from '@nestjs/common';
import {
  problems,
  type DataConstraintsQuery,
  type DataConstraintsResponse,
  type PaymentConstraintsQuery,
  type PaymentConstraintsResponse,
} from '#libs/contract';
import { InstitutionsService, type ReachableInstitution } from '../institutions/institutions.service.js';
import { dataConstraints, paymentConstraints, type EndpointConstraints } from './constraint-schemas.js';

/** What institutions want of requests, as JSON Schemas of the rules by which requests are checked. */
@Injectable()
export class ConstraintsService {
  constructor(private readonly institutions: InstitutionsService) {}

  /** By institution, in the order they were named; 404 when one is unknown or is not of the country. */
  ofData(query: DataConstraintsQuery): DataConstraintsResponse[] {
    return this.chosen(query).flatMap((institution) => filtered(query, institution, dataConstraints(institution)));
  }

  ofPayments(query: PaymentConstraintsQuery): PaymentConstraintsResponse[] {
    const { paymentType } = query;
    return this.chosen(query)
      .flatMap((institution) => filtered(query, institution, paymentConstraints(institution, paymentType)))
      .map((found) => Object.assign(found, { paymentType }));
  }

  private chosen({ institutionIds, institutionCountryCode }: DataConstraintsQuery): ReachableInstitution[] {
    return [...new Set(institutionIds)].map((id) => {
      const found = this.institutions.require(id, 'institutionIds');
      const code = institutionCountryCode.toUpperCase();
      if (found.data.countries.some(({ countryCode2 }) => countryCode2 === code)) return found;
      throw problems.notFound({
        parameter: 'institutionCountryCode',
        message: `${id} is not an institution of ${code}`,
      });
    });
  }
}

/** The country is said under both of the names that the interface has for it. */
function filtered(
  { endpointPath, endpointMethod, institutionCountryCode }: DataConstraintsQuery,
  { data }: ReachableInstitution,
  all: readonly EndpointConstraints[],
): DataConstraintsResponse[] {
  const country = institutionCountryCode.toUpperCase();
  return all
    .filter((each) => endpointPath === undefined || each.endpointPath === endpointPath)
    .filter((each) => endpointMethod === undefined || each.endpointMethod === endpointMethod)
    .map((each) => {
      const { request } = each;
      const endpoint = { endpointPath: each.endpointPath, endpointMethod: each.endpointMethod };
      return {
        institutionId: data.id,
        institutionCountry: country,
        institutionCountryCode: country,
        ...endpoint,
        request,
      };
    });
}
