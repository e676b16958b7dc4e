import { createHash, type X509Certificate } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { TLSSocket } from 'node:tls';

/** The certificate a caller has shown, of an authority that the banks trust. */
export interface ClientCertificate {
  x509: X509Certificate;
  /** Its subject, as `tls_client_auth_subject_dn` writes it (RFC 4514). */
  subject: string;
  /** How eIDAS names the TPP: `PSDGB-FCA-900001` (ETSI TS 119 495). */
  organisationIdentifier: string | undefined;
  /** What `cnf.x5t#S256` of a bound token is compared with (RFC 8705, section 3.1). */
  thumbprint: string;
}

export type CertificateFault = 'missing' | 'expired' | 'invalid';

/** A handshake is read once, however many calls come over its connection. */
const shown = new WeakMap<TLSSocket, ClientCertificate | CertificateFault>();

/** What the caller has shown of itself, or what is wrong with it. */
export function certificateOf({ socket }: IncomingMessage): ClientCertificate | CertificateFault {
  if (!(socket instanceof TLSSocket)) return 'missing';
  const known = shown.get(socket) ?? read(socket);
  shown.set(socket, known);
  return known;
}

/** Whether a token is bound to another certificate than the caller's. */
export function isBoundElsewhere(token: { 'x5t#S256'?: string | undefined }, request: IncomingMessage): boolean {
  const bound = token['x5t#S256'];
  if (bound === undefined) return false;
  const certificate = certificateOf(request);
  return typeof certificate === 'string' || certificate.thumbprint !== bound;
}

function read(socket: TLSSocket): ClientCertificate | CertificateFault {
  const x509 = socket.getPeerX509Certificate();
  if (!x509) return 'missing';
  if (!socket.authorized) return String(socket.authorizationError) === 'CERT_HAS_EXPIRED' ? 'expired' : 'invalid';
  const parts = x509.subject.split('\n');
  const name = 'organizationIdentifier=';
  return {
    x509,
    subject: parts.toReversed().join(','),
    organisationIdentifier: parts.find((part) => part.startsWith(name))?.slice(name.length),
    thumbprint: createHash('sha256').update(x509.raw).digest('base64url'),
  };
}
