/**
 * The forms of text, each one regular expression that both the rule and the JSON Schema of a field use: neither can say
 * anything that the other does not. All have the `u` flag, as JSON Schema reads patterns so; none looks back or captures.
 */

/** A UUID in its 36 character form, either case. */
export const uuidPattern = /^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$/u;

const commonYear =
  /[0-9]{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)|02-(?:0[1-9]|1[0-9]|2[0-8]))/u;
const leapDay = /(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)-02-29/u;
const time = /(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]{1,9})?/u;
const zone = /(?:[Zz]|[+-](?:0[0-9]|1[0-8]):?[0-5][0-9])/u;

/**
 * A date-time of RFC 3339, whose offset may lack its colon as the interface prints it. The first years of the calendar
 * and its very end are left out, because no database holds what an offset makes of them.
 */
export const dateTimePattern = new RegExp(
  `^(?!000)(?!9999-12-31.*-)(?:${commonYear.source}|${leapDay.source})[Tt]${time.source}${zone.source}$`,
  'u',
);

const label = /[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?/u;
/** A last label that began with a digit would make the whole an address of numbers, and most such are none. */
const lastLabel = /[A-Za-z_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?/u;
const octet = /(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])/u;
const host = `(?:(?:${label.source}\\.)*${lastLabel.source}|${octet.source}(?:\\.${octet.source}){3}|\\[::1\\])`;
const port = /(?::(?:6553[0-5]|655[0-2][0-9]|65[0-4][0-9]{2}|6[0-4][0-9]{3}|[1-5][0-9]{4}|[0-9]{1,4}))?/u;
const user = "(?:[A-Za-z0-9_.~!$&'()*+,;=:%-]*@)?";
const rest = /(?:[/?#][^\s\p{Cc}<>"]*)?/u;

/** An absolute address of at most 2084 characters; names that are not ASCII are written in Punycode. */
export function urlPattern(httpsOnly: boolean): RegExp {
  const scheme = httpsOnly ? 'https' : 'https?';
  return new RegExp(`^(?=[\\s\\S]{1,2084}$)${scheme}://${user}${host}${port.source}${rest.source}$`, 'u');
}

/** Text by its number of characters; a character is a code point, however many units it takes. */
export function lengthPattern(min: number, max: number | undefined): RegExp {
  return new RegExp(`^[\\s\\S]{${min},${max ?? ''}}$`, 'u');
}
