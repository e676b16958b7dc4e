import { isUtf8 } from 'node:buffer';
import { parse as parseForm } from 'node:querystring';
import { BadRequestException, UnsupportedMediaTypeException } from '@nestjs/common';
import type { FastifyAdapter } from '@nestjs/platform-fastify';
import type { FastifyRequest } from 'fastify';

declare module 'fastify' {
  interface FastifyRequest {
    /** The bytes as they came, on the routes named in `rawBodyRoutes`. */
    rawBody?: Buffer;
  }
  interface FastifyContextConfig {
    /** Set where a browser posts a form; elsewhere a form is refused like any other type that is not JSON. */
    takesForms?: boolean;
  }
}

/** Fastify tries exact names first, so the plain type cannot be left to the pattern. */
const jsonTypes: readonly (string | RegExp)[] = ['application/json', /^application\/[\w.-]+\+json(?:$|\s*;)/i];

/**
 * Reads JSON bodies. On the routes of `rawBodyRoutes` (templates, such as `/v1/webhooks/:id`) the body is left as a Buffer, both as
 * `request.body` and `request.rawBody`: what is signed must be checked before it is parsed. An empty body counts as none. Plain text,
 * which Fastify would read by itself, is refused like any other type, and a form wherever none is expected.
 */
export function addBodyParsers(adapter: FastifyAdapter, rawBodyRoutes: readonly string[]): void {
  const rawRoutes = new Set(rawBodyRoutes);
  const fastify = adapter.getInstance();
  fastify.removeContentTypeParser('text/plain');
  const parseJson = fastify.getDefaultJsonParser('error', 'error');
  const parse = (request: FastifyRequest, body: Buffer, done: (error: Error | null, body?: unknown) => void) => {
    if (rawRoutes.has(request.routeOptions.url ?? '')) {
      request.rawBody = body;
      done(null, body);
    } else if (body.length === 0) done(null, undefined);
    else if (!isUtf8(body)) done(new BadRequestException('The body is not UTF-8'));
    else if (isTooDeep(body)) done(new BadRequestException('The body is nested too deeply'));
    else void parseJson(request, body.toString('utf8'), done);
  };
  for (const type of jsonTypes) adapter.useBodyParser(type, false, undefined, parse);
  adapter.useBodyParser('application/x-www-form-urlencoded', false, undefined, (request, body, done) => {
    if (request.routeOptions.config.takesForms === true) done(null, parseForm(body.toString('utf8')));
    else done(new UnsupportedMediaTypeException());
  });
}

const depthMax = 64;
const [quote, backslash, openList, closeList, openObject, closeObject] = [...'"\\[]{}'].map((mark) =>
  mark.charCodeAt(0),
);

/** What walks a body later is recursive: a few kilobytes of brackets would exhaust its stack. Counted outside of strings. */
function isTooDeep(body: Buffer): boolean {
  let depth = 0;
  let isInString = false;
  for (let at = 0; at < body.length; at++) {
    const byte = body[at];
    if (isInString) {
      if (byte === backslash) at++;
      else if (byte === quote) isInString = false;
    } else if (byte === quote) isInString = true;
    else if ((byte === openList || byte === openObject) && ++depth > depthMax) return true;
    else if (byte === closeList || byte === closeObject) depth--;
  }
  return false;
}
