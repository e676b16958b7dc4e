import { verifyWebhook } from '#libs/client';

export interface Claim {
  body: Buffer;
  signature: string | undefined;
  secret: string;
}

/** Whether a webhook's signature is right, and if not, which part is wrong. */
export interface Explanation {
  valid: boolean;
  because: string;
}

const reasons = {
  'missing-signature': 'there is no signature: look at the header webhook-signature',
  'malformed-signature': 'the signature is not 64 lowercase hexadecimal characters',
  'no-secret': 'there is no secret',
  'wrong-signature': 'the signature was made over other bytes, or with another secret',
} as const;

/** Ways in which bodies, secrets and signatures are spoilt on the way; each is tried, and the one that fits is the fault. */
const spoilers: readonly [string, (claim: Claim) => Claim][] = [
  ['the secret has blanks around it', (claim) => ({ ...claim, secret: claim.secret.trim() })],
  ['the signature has blanks around it', (claim) => ({ ...claim, signature: claim.signature?.trim() })],
  ['the signature is in capitals', (claim) => ({ ...claim, signature: claim.signature?.toLowerCase() })],
  ['the signature has a prefix', (claim) => ({ ...claim, signature: claim.signature?.replace(/^(sha256=|v1,)/, '') })],
  [
    'the signature is in base64 instead of hexadecimal',
    (claim) => ({ ...claim, signature: Buffer.from(claim.signature ?? '', 'base64').toString('hex') }),
  ],
  ['the body has a line end that was not signed', ({ body, ...rest }) => ({ ...rest, body: without(body, /\r?\n$/) })],
  ['the body lost its last line end', ({ body, ...rest }) => ({ ...rest, body: Buffer.concat([body, newline]) })],
  ['the body has a byte order mark', ({ body, ...rest }) => ({ ...rest, body: without(body, /^\ufeff/) })],
  ['the body was parsed and printed with blanks', ({ body, ...rest }) => ({ ...rest, body: compact(body) })],
];

const newline = Buffer.from('\n');

/** Says which part of a delivery fails, for whoever looks into it; `verifyWebhook` alone decides in the program. */
export function explainSignature(claim: Claim): Explanation {
  const { body: rawBody, signature, secret } = claim;
  const verdict = verifyWebhook({ rawBody, signature, secrets: [secret] });
  if (verdict.valid) return { valid: true, because: 'the signature is right' };
  for (const [fault, mend] of spoilers) if (fits(mend(claim))) return { valid: false, because: fault };
  return { valid: false, because: reasons[verdict.reason] };
}

function fits({ body: rawBody, signature, secret }: Claim): boolean {
  return verifyWebhook({ rawBody, signature, secrets: [secret] }).valid;
}

function without(body: Buffer, pattern: RegExp): Buffer {
  return Buffer.from(body.toString('utf8').replace(pattern, ''));
}

function compact(body: Buffer): Buffer {
  try {
    return Buffer.from(JSON.stringify(JSON.parse(body.toString('utf8'))));
  } catch {
    return body;
  }
}
