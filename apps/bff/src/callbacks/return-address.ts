import type { FastifyReply } from 'fastify';
import { problems } from '#libs/contract';
import { sendPage } from './plain-page.js';

/**
 * Checks where a merchant wants its customer's browser to go after the bank. Registered addresses are matched by
 * origin and by path up to a slash; a merchant without any may name any address, except in production.
 */
export function checkReturnUrl(
  returnUrl: string | undefined,
  { registered, production }: { registered: readonly string[]; production: boolean },
): string | undefined {
  if (returnUrl === undefined) return undefined;
  const asked = new URL(returnUrl);
  const plain = asked.username === '' && asked.password === '';
  const secure = asked.protocol === 'https:' || (!production && asked.protocol === 'http:');
  const allowed = registered.length === 0 ? !production : registered.some((each) => covers(new URL(each), asked));
  if (plain && secure && allowed) return asked.href;
  throw problems.unexpectedValue({
    parameter: '$.returnUrl',
    message: 'returnUrl must be one of the merchant’s return addresses',
  });
}

function covers(registered: URL, asked: URL): boolean {
  if (registered.origin !== asked.origin) return false;
  const path = registered.pathname.endsWith('/') ? registered.pathname : `${registered.pathname}/`;
  return asked.pathname === registered.pathname || asked.pathname.startsWith(path);
}

/** Sends the browser back to the merchant, or, where there is nowhere to go, says how it went. */
export function sendBack(
  reply: FastifyReply,
  { returnUrl, told, sentence }: { returnUrl: string | null; told: Record<string, string>; sentence: string },
): void {
  if (returnUrl !== null) {
    void reply.header('cache-control', 'no-store').header('referrer-policy', 'no-referrer');
    const target = new URL(returnUrl);
    for (const [name, value] of Object.entries(told)) target.searchParams.set(name, value);
    void reply.redirect(target.href, 303);
    return;
  }
  sendPage(reply, { title: sentence, text: 'You can close this window and return to the shop.' });
}
