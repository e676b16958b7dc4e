import { lookup } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';

/** IPv4 ranges that are not the public internet (RFC 6890, and multicast and reserved space). */
const privateIpv4 = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
] as const;

/** Parts of 2000::/3 that lead elsewhere: protocol assignments with Teredo, documentation, 6to4. */
const specialIpv6 = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const;

const refusedIpv4 = new BlockList();
for (const [network, prefix] of privateIpv4) refusedIpv4.addSubnet(network, prefix, 'ipv4');
const globalIpv6 = new BlockList();
globalIpv6.addSubnet('2000::', 3, 'ipv6');
const refusedIpv6 = new BlockList();
for (const [network, prefix] of specialIpv6) refusedIpv6.addSubnet(network, prefix, 'ipv6');

/** Thrown instead of a connection when a host leads to an address that is not public. */
export class AddressRefused extends Error {
  override readonly name = 'AddressRefused';
}

/** Whether an IP address (text, either family) belongs to the public internet. IPv4 inside IPv6 is refused as a whole. */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return !refusedIpv4.check(address, 'ipv4');
  return family === 6 && globalIpv6.check(address, 'ipv6') && !refusedIpv6.check(address, 'ipv6');
}

/**
 * Why an address cannot take deliveries, or undefined when it can. Names are judged later, when they are resolved.
 * Plain http is taken only where private addresses are allowed, which is never in production.
 */
export function callbackUrlFault(text: string, { allowPrivate }: { allowPrivate: boolean }): string | undefined {
  if (text.length > 2_048 || !URL.canParse(text)) return 'must be an absolute https address';
  const url = new URL(text);
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (url.username !== '' || url.password !== '') return 'must not carry credentials';
  if (text.includes('?')) return 'must not have query parameters';
  if (text.includes('#')) return 'must not have a fragment';
  if (allowPrivate && url.protocol === 'http:') return undefined;
  if (url.protocol !== 'https:') return 'must be an https address';
  if (!allowPrivate && (host === 'localhost' || (isIP(host) !== 0 && !isPublicAddress(host)))) {
    return 'must be a public address';
  }
  return undefined;
}

/**
 * A resolver for sockets that hands out public addresses only. The socket connects to the very address that was
 * checked, so a name cannot answer one address to the check and another to the connection.
 */
export const publicLookup: LookupFunction = (hostname, options, callback) => {
  lookup(hostname, { all: true }, (error, found) => {
    const [first] = found ?? [];
    if (error) callback(error, '', 0);
    else if (first === undefined || !found.every(({ address }) => isPublicAddress(address))) {
      callback(new AddressRefused('The host does not lead to a public address'), '', 0);
    } else if (options.all) callback(null, [first]);
    else callback(null, first.address, first.family);
  });
};
