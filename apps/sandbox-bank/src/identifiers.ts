/** ISO 13616: the two check digits that make the whole number 1 modulo 97. */
export function toIban(country: string, rest: string): string {
  const numeric = `${rest}${country}00`.replace(/[A-Z]/g, (letter) => String(letter.charCodeAt(0) - 55));
  return `${country}${String(98n - (BigInt(numeric) % 97n)).padStart(2, '0')}${rest}`;
}

/** `001234` as a person writes it: `00-12-34`. */
export function toSortCode(digits: string): string {
  return digits.replace(/(\d\d)(?=\d)/g, '$1-');
}

/** Whether a text is an IBAN with right check digits. */
export function isIban(text: string): boolean {
  return /^[A-Z]{2}\d{2}[A-Z0-9]{11,30}$/.test(text) && toIban(text.slice(0, 2), text.slice(4)) === text;
}
