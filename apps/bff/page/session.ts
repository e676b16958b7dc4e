import { nowMs } from './clock.js';

/** What the page signs in with: a customer's session, as a merchant's backend would hand it to its frontend. */
export interface CustomerSession {
  token: string;
  expiresAt: string;
  customerId: string;
  /** The merchant's own id of the customer. */
  reference: string;
}

const key = 'tributary.session';

/** The session of this tab, if it still holds. It outlives the way to the bank and back, not the tab. */
export function savedSession(): CustomerSession | undefined {
  const text = sessionStorage.getItem(key);
  if (text === null) return undefined;
  const session = JSON.parse(text) as CustomerSession;
  return Date.parse(session.expiresAt) > nowMs() ? session : undefined;
}

/** Keeps the session in this tab; undefined forgets it. */
export function saveSession(session: CustomerSession | undefined): void {
  if (session) sessionStorage.setItem(key, JSON.stringify(session));
  else sessionStorage.removeItem(key);
}
