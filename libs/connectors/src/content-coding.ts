import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';
import { InstitutionError } from './institution-error.js';

type Decode = (body: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>;

const decoders: ReadonlyMap<string, Decode> = new Map([
  ['gzip', promisify(gunzip)],
  ['x-gzip', promisify(gunzip)],
  ['deflate', promisify(inflate)],
  ['br', promisify(brotliDecompress)],
]);

/**
 * A body as it was before the bank compressed it. We ask for none of that; some gateways do it all the same. A body that
 * unpacks to more than `bytesMax` is refused like one that is as long on the wire.
 */
export async function decoded(
  body: Buffer,
  { coding, bytesMax }: { coding: string | string[] | undefined; bytesMax: number },
): Promise<Buffer> {
  const name = String(coding ?? '')
    .trim()
    .toLowerCase();
  if (name === '' || name === 'identity' || body.length === 0) return body;
  try {
    const decode = decoders.get(name);
    if (decode) return await decode(body, { maxOutputLength: bytesMax });
  } catch {
    // Too long or broken: either way it cannot be read.
  }
  throw new InstitutionError('malformed', 'The institution compressed its answer in a way that cannot be undone');
}
