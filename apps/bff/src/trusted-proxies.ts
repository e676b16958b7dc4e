import { isIP } from 'node:net';
import { ValidateBy } from 'class-validator';

const hopsMax = 10;
const names: ReadonlySet<string> = new Set(['loopback', 'linklocal', 'uniquelocal']);

type Trust = string[] | ((address: string, hop: number) => boolean);

/**
 * Whose `X-Forwarded-For` is believed: the nearest so many proxies, or those at certain addresses. Undefined for a text that says neither.
 */
export function trustedProxies(text: string): Trust | undefined {
  if (/^\d+$/.test(text)) {
    const hops = Number(text);
    return hops >= 1 && hops <= hopsMax ? (_address, hop) => hop < hops : undefined;
  }
  const places = text.split(',').map((place) => place.trim());
  return places.every(isPlace) ? places : undefined;
}

function isPlace(text: string): boolean {
  if (names.has(text)) return true;
  const [address = '', prefix, ...rest] = text.split('/');
  const version = isIP(address);
  if (version === 0 || rest.length > 0) return false;
  // A prefix of no bits is everybody, and then anybody may say where a customer is.
  return (
    prefix === undefined ||
    (/^\d{1,3}$/.test(prefix) && Number(prefix) >= 1 && Number(prefix) <= (version === 4 ? 32 : 128))
  );
}

/** A count of proxies, or addresses and ranges (CIDR) of them, separated by commas. */
export function TrustedProxies(): PropertyDecorator {
  const validate = (value: unknown) => typeof value === 'string' && trustedProxies(value) !== undefined;
  const defaultMessage = () => '$property must be a count of proxies, or addresses and CIDR ranges';
  return ValidateBy({ name: 'trustedProxies', validator: { validate, defaultMessage } });
}
