import type { BerlinGroupBank } from '../banks.js';
import type { CertificateFault } from '../client-certificate.js';

export interface Link {
  href: string;
}

/** An answer in the framework's error shapes (NextGenPSD2 1.3.x, section 4.11). Thrown by handlers, sent by the error handler. */
export class BerlinError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    readonly text: string,
    readonly more: { path?: string; links?: Record<string, Link> } = {},
  ) {
    super(text);
  }
}

const at = (path: string): { path: string } => ({ path });

/** The refusals of section 14.11 that the banks use, one line each. */
export const refusals = {
  format: (path: string, text: string) => new BerlinError(400, 'FORMAT_ERROR', text, at(path)),
  parameter: (path: string, text: string) => new BerlinError(400, 'PARAMETER_NOT_SUPPORTED', text, at(path)),
  inconsistent: (text: string) => new BerlinError(400, 'PARAMETER_NOT_CONSISTENT', text),
  service: (text: string) => new BerlinError(400, 'SERVICE_INVALID', text),
  notOffered: (what: string) => new BerlinError(405, 'SERVICE_INVALID', `${what} are not offered`),
  sessions: () => new BerlinError(400, 'SESSIONS_NOT_SUPPORTED', 'Combined services are not supported'),
  period: (text: string) => new BerlinError(400, 'PERIOD_INVALID', text),
  consentUnknown: (status: 400 | 403) => new BerlinError(status, 'CONSENT_UNKNOWN', 'The consent is not known'),
  consentInvalid: (text: string) => new BerlinError(401, 'CONSENT_INVALID', text),
  consentExpired: () => new BerlinError(401, 'CONSENT_EXPIRED', 'The consent has expired'),
  resourceUnknown: (what: string) => new BerlinError(404, 'RESOURCE_UNKNOWN', `${what} is not known`),
  certificate: (fault: CertificateFault, text = `The certificate of the TPP is ${fault}`) =>
    new BerlinError(401, `CERTIFICATE_${fault.toUpperCase()}`, text),
  token: (code: 'TOKEN_UNKNOWN' | 'TOKEN_INVALID', text: string, href: string) =>
    new BerlinError(401, code, text, { links: { scaOAuth: { href } } }),
  credentials: () => new BerlinError(401, 'PSU_CREDENTIALS_INVALID', 'The PSU is not known, or the password is wrong'),
  scaInvalid: () => new BerlinError(400, 'SCA_INVALID', 'The code is not right'),
  methodUnknown: () => new BerlinError(400, 'SCA_METHOD_UNKNOWN', 'The PSU has no such authentication method'),
  status: (text: string) => new BerlinError(409, 'STATUS_INVALID', text),
  accessExceeded: () => new BerlinError(429, 'ACCESS_EXCEEDED', 'The access has been used up for today'),
  notAcceptable: () => new BerlinError(406, 'REQUESTED_FORMATS_INVALID', 'The answer is application/json'),
  unsupportedMedia: () => new BerlinError(415, 'FORMAT_ERROR', 'The content type must be application/json'),
  unexpected: () => new BerlinError(500, 'INTERNAL_SERVER_ERROR', 'An unexpected error occurred'),
};

/** The body in the shape this bank has chosen, and its media type. */
export function errorBody(
  bank: BerlinGroupBank,
  { status, code, text, more }: BerlinError,
): { type: string; body: string } {
  const { path, links } = more;
  const _links = links && { _links: links };
  if (bank.errorShape === 'tpp-messages') {
    const message = { category: 'ERROR', code, ...(path !== undefined && { path }), text };
    return { type: 'application/json', body: JSON.stringify({ tppMessages: [message], ..._links }) };
  }
  const type = `https://berlingroup.com/error-codes/${code}`;
  const detail = path === undefined ? text : `${path}: ${text}`;
  return {
    type: 'application/problem+json',
    body: JSON.stringify({ type, title: text, status, detail, code, ..._links }),
  };
}
