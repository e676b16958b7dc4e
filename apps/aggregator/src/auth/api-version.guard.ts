import { type CanActivate, createParamDecorator, type ExecutionContext, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { type ApiVersion, readApiVersion } from '#libs/contract';
import { Env } from '../config.js';

const versions = new WeakMap<object, ApiVersion>();

/**
 * Reads which version of the interface a request speaks, and refuses one that does not exist (400 naming the header). Runs after
 * the application guard.
 */
@Injectable()
export class ApiVersionGuard implements CanActivate {
  constructor(private readonly env: Env) {}

  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    versions.set(request, readApiVersion(request.headers, this.env.SERVICE_NAME));
    return true;
  }
}

/** Injects the version that the request speaks. */
export const CurrentVersion = createParamDecorator((_data: undefined, context: ExecutionContext): ApiVersion => {
  return versions.get(context.switchToHttp().getRequest<object>()) ?? '1.0';
});
