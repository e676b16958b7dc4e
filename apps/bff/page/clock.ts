/** Milliseconds since the epoch, as the browser knows them; the only place of the page that reads them. */
export function nowMs(): number {
  return Date.now();
}
