import { ApiResponseError, type ErrorShape as Shape } from '#libs/contract';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiDefaultResponse } from '@nestjs/swagger';

const routeConfigKey = '__fastify_route_config__';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Travels in the route's configuration, so that it is known before Nest is reached. */
    errorShape?: Shape;
  }
}

/**
 * The error shape of a controller, or of one method, which wins over its controller's. Every fault on the route has it: an
 * unreadable body that never reaches the controller, too. The older families list no statuses: their shape is documented as the
 * answer of every other status than those of success; the others list theirs one by one.
 */
export function ErrorShape(shape: Shape): ClassDecorator & MethodDecorator {
  return (target: object, _key?: string | symbol, descriptor?: PropertyDescriptor) => {
    if (descriptor) {
      assign(descriptor.value, shape);
      return;
    }
    if (typeof target !== 'function') return;
    if (shape === 'minimal') ApiDefaultResponse({ type: ApiResponseError })(target);
    const members = Object.getOwnPropertyDescriptors(target.prototype);
    for (const [name, member] of Object.entries(members)) {
      if (name !== 'constructor' && typeof member.value === 'function' && !shapeOf(member.value))
        assign(member.value, shape);
    }
  };
}

function assign(method: object, errorShape: Shape): void {
  const known: object = Reflect.getMetadata(routeConfigKey, method) ?? {};
  RouteConfig({ ...known, errorShape })(method, '', { value: method });
}

function shapeOf(method: object): Shape | undefined {
  const known: { errorShape?: Shape } | undefined = Reflect.getMetadata(routeConfigKey, method);
  return known?.errorShape;
}
