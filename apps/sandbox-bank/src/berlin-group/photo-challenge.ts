import { createHash } from 'node:crypto';
import { crc32, deflateSync } from 'node:zlib';

const cells = 12;
const cellPixels = 8;
const side = cells * cellPixels;

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
}

/** A PNG (base64) of coloured squares, another one for each authorisation, as photo codes look. */
export function photoChallenge(authorisationId: string): string {
  const dice = createHash('sha256').update(authorisationId).digest();
  const palette = Buffer.from([255, 255, 255, 214, 40, 57, 29, 111, 66, 31, 78, 168]);
  const rows: Buffer[] = [];
  for (let y = 0; y < side; y += 1) {
    const row = Buffer.alloc(side + 1);
    for (let x = 0; x < side; x += 1) {
      const cell = Math.floor(y / cellPixels) * cells + Math.floor(x / cellPixels);
      row[x + 1] = ((dice[cell % dice.length] ?? 0) >> ((cell >> 5) * 2)) & 3;
    }
    rows.push(row);
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(side, 0);
  header.writeUInt32BE(side, 4);
  // Eight bits for each pixel, naming a colour of the palette.
  header.set([8, 3, 0, 0, 0], 8);
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  const parts = [
    chunk('IHDR', header),
    chunk('PLTE', palette),
    chunk('IDAT', deflateSync(Buffer.concat(rows))),
    chunk('IEND', Buffer.alloc(0)),
  ];
  return Buffer.concat([signature, ...parts]).toString('base64');
}
