import { RouteConfig } from '@nestjs/platform-fastify';
import type { FastifyContextConfig } from 'fastify';

const routeConfigKey = '__fastify_route_config__';

/**
 * Members of the route's configuration, where Fastify's hooks find them before Nest is reached. On a controller they hold for
 * all of its methods; what a method says itself wins.
 */
export function RouteSetting(setting: Partial<FastifyContextConfig>): ClassDecorator & MethodDecorator {
  return (target: object, _key?: string | symbol, descriptor?: PropertyDescriptor) => {
    if (descriptor) {
      assign(descriptor.value, { ...known(descriptor.value), ...setting });
      return;
    }
    if (typeof target !== 'function') return;
    const members = Object.getOwnPropertyDescriptors(target.prototype);
    for (const [name, { value }] of Object.entries(members)) {
      if (name !== 'constructor' && typeof value === 'function') assign(value, { ...setting, ...known(value) });
    }
  };
}

function assign(method: object, config: object): void {
  RouteConfig(config)(method, '', { value: method });
}

function known(method: object): object {
  return Reflect.getMetadata(routeConfigKey, method) ?? {};
}
