/** Where a bank sends the browser back to. */
export function here(): string {
  return location.origin + location.pathname;
}

/** Goes to the bank's pages. */
export function leaveFor(address: string | undefined): void {
  if (address === undefined) throw new Error('The bank gave no address to go to.');
  location.assign(address);
}
