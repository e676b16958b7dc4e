import { applyDecorators } from '@nestjs/common';
import { ApiHeader } from '@nestjs/swagger';

/** Header names in lower case, as Node and Fastify present them. */
export const header = {
  authorization: 'authorization',
  consent: 'consent',
  psuId: 'psu-id',
  psuCorporateId: 'psu-corporate-id',
  psuIpAddress: 'psu-ip-address',
  subApplication: 'sub-application',
  apiVersion: 'x-service-api-version',
  tracingId: 'x-tracing-id',
  webhookId: 'webhook-id',
  webhookSignature: 'webhook-signature',
} as const;

/** Who the person at the bank is and where the call comes from; which of them a bank needs depends on the bank. */
export interface PsuHeaders {
  psuId?: string;
  psuCorporateId?: string;
  psuIpAddress?: string;
}

type HeaderBag = Readonly<Record<string, string | string[] | undefined>>;

/** The PSU headers of a request; blank ones count as absent. */
export function readPsuHeaders(headers: HeaderBag): PsuHeaders {
  const psuId = one(headers, header.psuId);
  const psuCorporateId = one(headers, header.psuCorporateId);
  const psuIpAddress = one(headers, header.psuIpAddress);
  return {
    ...(psuId === undefined ? {} : { psuId }),
    ...(psuCorporateId === undefined ? {} : { psuCorporateId }),
    ...(psuIpAddress === undefined ? {} : { psuIpAddress }),
  };
}

/** The PSU headers of a request that is to be sent. */
export function writePsuHeaders(psu: PsuHeaders): Record<string, string> {
  const headers: Record<string, string> = {};
  if (psu.psuId) headers[header.psuId] = psu.psuId;
  if (psu.psuCorporateId) headers[header.psuCorporateId] = psu.psuCorporateId;
  if (psu.psuIpAddress) headers[header.psuIpAddress] = psu.psuIpAddress;
  return headers;
}

/** Documents the three PSU headers. */
export function ApiPsuHeaders(): ClassDecorator & MethodDecorator {
  return applyDecorators(
    ApiHeader({ name: header.psuId, required: false, description: "The user's login ID for a personal account." }),
    ApiHeader({ name: header.psuCorporateId, required: false, description: 'The login ID for a business account.' }),
    ApiHeader({ name: header.psuIpAddress, required: false, description: 'The IP address of the user.' }),
  );
}

/** Documents the mandatory consent header. */
export function ApiConsentHeader(): ClassDecorator & MethodDecorator {
  return applyDecorators(ApiHeader({ name: header.consent, required: true, description: 'The consent token.' }));
}

/** Documents the optional sub-application header. */
export function ApiSubApplicationHeader(): ClassDecorator & MethodDecorator {
  const description = 'The sub-application on whose behalf the call is made.';
  return applyDecorators(ApiHeader({ name: header.subApplication, required: false, description }));
}

function one(headers: HeaderBag, name: string): string | undefined {
  const value = headers[name];
  const text = (Array.isArray(value) ? value[0] : value)?.trim();
  return text === '' ? undefined : text;
}
