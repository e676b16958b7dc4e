import type { Configuration } from 'oidc-provider';
import { certificateOf, type ClientCertificate } from '../client-certificate.js';

type Features = NonNullable<Configuration['features']>;
type MutualTls = NonNullable<Features['mTLS']>;
type Context = Parameters<NonNullable<MutualTls['certificateAuthorized']>>[0];

/** Client authentication by certificate, and tokens bound to it (RFC 8705), at whichever client is registered so. */
export const mutualTls: MutualTls = {
  enabled: true,
  tlsClientAuth: true,
  certificateBoundAccessTokens: true,
  getCertificate: (ctx) => accepted(ctx)?.x509,
  certificateAuthorized: (ctx) => accepted(ctx) !== undefined,
  certificateSubjectMatches: (ctx, property, expected) =>
    property === 'tls_client_auth_subject_dn' && accepted(ctx)?.subject === expected,
};

/** Where a server that browsers reach without a certificate takes those of TPPs (section 5). */
export function endpointAliases(address: string): Record<string, string> {
  return {
    token_endpoint: `${address}/token`,
    revocation_endpoint: `${address}/token/revocation`,
  };
}

function accepted(ctx: Context): ClientCertificate | undefined {
  const certificate = certificateOf(ctx.req);
  return typeof certificate === 'string' ? undefined : certificate;
}
