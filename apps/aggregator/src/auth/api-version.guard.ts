import { type CanActivate, createParamDecorator, type ExecutionContext, Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type ApiVersion, readApiVersion, versionHeaders } from '#libs/contract';
import { Env } from '../config.js';

const versions = new WeakMap<object, ApiVersion>();

/**
 * Reads which version of the interface a request speaks, says it in the answer under every name of the header, and refuses
 * one that does not exist (400 naming the header). Runs after the application guard.
 */
@Injectable()
export class ApiVersionGuard implements CanActivate {
  private readonly names: string[];

  constructor(private readonly env: Env) {
    this.names = versionHeaders(env.SERVICE_NAME);
  }

  canActivate(context: ExecutionContext): boolean {
    const http = context.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    const version = readApiVersion(request.headers, this.env.SERVICE_NAME);
    versions.set(request, version);
    const reply = http.getResponse<FastifyReply>();
    for (const name of this.names) reply.header(name, version);
    return true;
  }
}

/** Injects the version that the request speaks. */
export const CurrentVersion = createParamDecorator((_data: undefined, context: ExecutionContext): ApiVersion => {
  return versions.get(context.switchToHttp().getRequest<object>()) ?? '1.0';
});
