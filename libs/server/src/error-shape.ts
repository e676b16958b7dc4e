import { applyDecorators } from '@nestjs/common';
import { ApiDefaultResponse } from '@nestjs/swagger';
import { ApiResponseError, type ErrorShape as Shape } from '#libs/contract';
import { RouteSetting } from './route-setting.js';

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
  const documented: ClassDecorator = (target) => {
    if (shape === 'minimal') ApiDefaultResponse({ type: ApiResponseError })(target);
  };
  const setting = RouteSetting({ errorShape: shape });
  return (target: object, key?: string | symbol, descriptor?: PropertyDescriptor) => {
    if (descriptor && key !== undefined) setting(target, key, descriptor);
    else if (typeof target === 'function') applyDecorators(setting, documented)(target);
  };
}
