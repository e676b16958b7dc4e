import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';

const files = [
  { path: '/', file: 'index.html', type: 'text/html; charset=utf-8' },
  { path: '/page.js', file: 'page.js', type: 'text/javascript; charset=utf-8' },
  { path: '/page.css', file: 'page.css', type: 'text/css; charset=utf-8' },
] as const;

const headers = {
  // The page runs its own script and talks to its own origin; logos come from wherever the institutions keep them.
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src * data:; " +
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  'cache-control': 'no-cache',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

/** Serves the built reference page at `/`: a merchant's frontend that uses the public API alone. Never in production. */
export async function serveReferencePage(app: NestFastifyApplication, folder: string): Promise<void> {
  const fastify = app.getHttpAdapter().getInstance();
  for (const { path, file, type } of files) {
    const body = await readFile(join(folder, file));
    fastify.get(path, (_request, reply) => reply.headers(headers).type(type).send(body));
  }
}
