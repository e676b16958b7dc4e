import type { Transport } from '#libs/connectors';
import { makeAuthority, makeCertificate, type Purpose, type Subject } from '../../apps/stack/src/certificates.js';

/** The authority that the sandbox banks of this process trust, and that signed their own certificate. */
export const directory = makeAuthority({ commonName: 'Directory under test' });

/** What a server on this machine shows, and whom it trusts. */
export const bankCertificates = {
  ...makeCertificate({ commonName: 'Banks under test' }, directory, { hosts: ['localhost', '127.0.0.1'] }),
  ca: directory.certificate,
};

export const tppSubject: Subject & { organisationIdentifier: string } = {
  country: 'GB',
  organisation: 'Tributary under test',
  organisationIdentifier: 'PSDGB-FCA-900001',
  commonName: 'tributary-under-test',
};

/** What a TPP shows, and whom it trusts: a certificate of its own each time. */
export function makeTransport(
  subject: Subject = tppSubject,
  { authority = directory, ...purpose }: Purpose & { authority?: typeof directory } = {},
): Transport {
  return { ...makeCertificate(subject, authority, purpose), ca: directory.certificate };
}
