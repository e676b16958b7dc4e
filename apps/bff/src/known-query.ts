import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { ROUTE_ARGS_METADATA } from '@nestjs/common/constants.js';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum.js';
import { getMetadataStorage } from 'class-validator';
import { problems } from '#libs/contract';
import { RouteSetting } from '#libs/server';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The query parameters that the route has; any are let through where it says nothing. */
    query?: readonly string[];
  }
}

/** Only the members of the class that a method's `@Query()` declares may stand in its query. */
export function KnownQuery(): ClassDecorator & MethodDecorator {
  return (target: object, key?: string | symbol, descriptor?: PropertyDescriptor) => {
    if (descriptor && key !== undefined) return restrict(target, key, descriptor);
    if (typeof target !== 'function') return;
    const members: PropertyDescriptorMap = Object.getOwnPropertyDescriptors(target.prototype);
    for (const [name, member] of Object.entries(members)) {
      if (name !== 'constructor' && typeof member.value === 'function') restrict(target.prototype, name, member);
    }
  };
}

function restrict(prototype: object, key: string | symbol, descriptor: PropertyDescriptor): void {
  RouteSetting({ query: declaredBy(prototype, key) })(prototype, key, descriptor);
}

/** What Nest knows of a method's arguments: `4:0` is a query at the first place. */
function declaredBy(prototype: object, key: string | symbol): string[] {
  const known: object = Reflect.getMetadata(ROUTE_ARGS_METADATA, prototype.constructor, key) ?? {};
  const types: unknown[] = Reflect.getMetadata('design:paramtypes', prototype, key) ?? [];
  const queries = Object.keys(known).filter((argument) => argument.startsWith(`${RouteParamtypes.QUERY}:`));
  return queries.flatMap((argument) => membersOf(types[Number(argument.split(':')[1])]));
}

function membersOf(type: unknown): string[] {
  if (typeof type !== 'function') return [];
  const rules = getMetadataStorage().getTargetValidationMetadatas(type, '', false, false);
  return [...new Set(rules.map(({ propertyName }) => propertyName))];
}

/** Refuses parameters that the route does not have: a misspelt filter must not bring everything. After admission. */
export function refuseUnknownQuery(app: NestFastifyApplication): void {
  const fastify = app.getHttpAdapter().getInstance();
  fastify.addHook('onRequest', (request, _reply, done) => {
    const { query } = request.routeOptions.config;
    const unknown = query ? Object.keys(request.query as object).filter((name) => !query.includes(name)) : [];
    if (query === undefined || unknown.length === 0) return done();
    const known = query.length === 0 ? 'none' : query.join(', ');
    const issues = unknown.map((parameter) => {
      return problems.unexpectedValue({ parameter, message: `${parameter} is not known here; known: ${known}` }).issues;
    });
    done(problems.unexpectedValues(issues.flat()));
  });
}
