import { X509Certificate } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import { now, resetClock, setClock } from '#libs/server';
import { endsWithin, makeAuthority, makeCertificate } from './certificates.js';

const directory = makeAuthority({ country: 'GB', organisation: 'Directory', commonName: 'Issuer' });
const tpp = {
  country: 'GB',
  organisation: 'Reads, Pays + "Co"',
  organisationIdentifier: 'PSDGB-FCA-900001',
  commonName: 'tpp',
};
const read = ({ certificate }: { certificate: string }): X509Certificate => new X509Certificate(certificate);

afterEach(resetClock);

describe('a certificate', () => {
  it('names its subject as eIDAS wants, and was issued by its authority alone', () => {
    const made = read(makeCertificate(tpp, directory));
    expect(made.toLegacyObject().subject).toMatchObject({
      C: 'GB',
      O: tpp.organisation,
      organizationIdentifier: 'PSDGB-FCA-900001',
      CN: 'tpp',
    });
    expect(made.checkIssued(read(directory))).toBe(true);
    expect(made.verify(read(directory).publicKey)).toBe(true);
    const namesake = makeAuthority(directory.subject);
    expect(made.verify(read(namesake).publicKey)).toBe(false);
  });

  it('is a client’s, or a server’s at the hosts that it names; neither signs others', () => {
    const client = read(makeCertificate(tpp, directory));
    const server = read(makeCertificate({ commonName: 'bank' }, directory, { hosts: ['localhost', '127.0.0.1'] }));
    expect([client.ca, server.ca, read(directory).ca]).toEqual([false, false, true]);
    expect(client.keyUsage).toEqual(['1.3.6.1.5.5.7.3.2']);
    expect(server.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1']);
    expect(server.checkHost('localhost')).toBe('localhost');
    expect(server.checkIP('127.0.0.1')).toBe('127.0.0.1');
    expect(server.checkHost('elsewhere.test')).toBeUndefined();
  });

  it.each(['2026-11-21T08:00:00Z', '2051-02-03T04:05:06Z'])('says in %s when it begins and ends', (instant) => {
    setClock(() => new Date(instant));
    const made = makeCertificate(tpp, directory, { fromDay: 0, untilDay: 30 });
    expect(read(made).validFromDate).toEqual(now());
    expect(endsWithin(29, made)).toBe(false);
    expect(endsWithin(31, made)).toBe(true);
  });
});
