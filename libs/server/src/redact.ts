/** Members that never reach a log whatever they hold. Compared without case, dashes and underscores. */
const secretMembers = new Set(
  `authorization cookie setcookie password passphrase secret applicationsecret clientsecret webhooksecret token accesstoken
   refreshtoken idtoken consenttoken onetimetoken authtoken consent apikey operatorkey sessionkey sealingkeys privatekey signingkey
   jwk jwks signature webhooksignature authcode code state nonce body rawbody requestbody responsebody payload headers query
   querystring search identification iban bban accountnumber sortcode pan psuid psucorporateid psuipaddress username
   usercredentials credentials databaseurl redisurl connectionstring`.split(/\s+/),
);

const concealed = '[redacted]';

/** What gives a secret or a person away inside a text, whoever wrote it. */
const revealing: readonly [RegExp, string][] = [
  [/\b(?:Bearer|Basic)\s+[A-Za-z0-9._~+/=-]+/g, concealed],
  [/\beyJ[A-Za-z0-9_-]+\.[A-Za-z0-9._-]+/g, concealed],
  [/:\/\/[^/\s:@]+:[^/\s@]+@/g, `://${concealed}@`],
  [/\?[^\s"'<>)]*=[^\s"'<>)]*/g, `?${concealed}`],
  // An IBAN is two letters, two digits and 11 to 30 characters, with or without blanks between groups of four (ISO 13616).
  [/\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,4})?\b/g, concealed],
  // 14 to 19 digits: a card number (ISO/IEC 7812), or a sort code with an account number. 13 would be an epoch in milliseconds.
  [/(?<![\w.-])\d{14,19}(?![\w.-])/g, concealed],
];

/** What every one of them has: most texts are cleared by this one look. */
const suspicious = /\d{2}|\?|:\/\/|eyJ|B(?:earer|asic)/;

/** The text without tokens, query strings, credentials in addresses, IBANs and card numbers. */
export function redactText(text: string): string {
  if (!suspicious.test(text)) return text;
  return revealing.reduce((cleaned, [pattern, replacement]) => cleaned.replace(pattern, replacement), text);
}

const depthMax = 6;

/** A copy fit for a log: secret members concealed, texts cleaned, errors reduced to name, message and stack. */
export function redact(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return redactText(value);
  if (typeof value === 'bigint') return value.toString();
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= depthMax) return '[deep]';
  if (value instanceof Error) return redactError(value, depth);
  if (value instanceof Date) return value;
  if (ArrayBuffer.isView(value)) return '[binary]';
  if (Array.isArray(value)) return value.slice(0, 50).map((item) => redact(item, depth + 1));
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, redactMember(name, member, depth)]));
}

function redactMember(name: string, member: unknown, depth: number): unknown {
  if (typeof member === 'number' || typeof member === 'boolean' || member === undefined) return member;
  return secretMembers.has(name.toLowerCase().replaceAll(/[-_]/g, '')) ? concealed : redact(member, depth + 1);
}

function redactError(error: Error, depth: number): object {
  const code = 'code' in error && typeof error.code === 'string' ? { code: error.code } : {};
  return {
    type: error.name,
    message: redactText(error.message),
    ...code,
    stack: redactText(error.stack ?? ''),
    ...(error.cause === undefined ? {} : { cause: redact(error.cause, depth + 1) }),
  };
}
