import type { FastifyInstance } from 'fastify';

/** A routed address: its template and the methods that were registered for it. */
interface Routed {
  pattern: RegExp;
  methods: Set<string>;
}

/** What is routed where; knows which methods an address has when it was asked with another. */
export interface RouteTable {
  /** The methods of this path, without its query; empty when nothing is routed there. */
  methodsOf: (path: string) => string[];
}

/** Watches every later registration. Must be called before the first route is added. */
export function watchRoutes(fastify: FastifyInstance, bodyLimits: Readonly<Record<string, number>>): RouteTable {
  const routed = new Map<string, Routed>();
  fastify.addHook('onRoute', (route) => {
    // A plugin's answer to whatever is asked, as for preflights: it routes no address.
    if (route.url === '*' || route.url === '/*') return;
    const limit = bodyLimits[route.url];
    if (limit !== undefined) route.bodyLimit = limit;
    const known = routed.get(route.url) ?? { pattern: toPattern(route.url), methods: new Set<string>() };
    for (const method of [route.method].flat()) known.methods.add(method.toUpperCase());
    routed.set(route.url, known);
  });
  return {
    methodsOf: (path) => {
      const allowed = new Set<string>();
      for (const { pattern, methods } of routed.values()) {
        if (pattern.test(path)) for (const method of methods) allowed.add(method);
      }
      return [...allowed].toSorted();
    },
  };
}

/** `/users/:userUuid` matches one segment, `*` everything below: the only two forms that our routes have. */
function toPattern(template: string): RegExp {
  const source = template
    .split('/')
    .map((segment) => (segment.startsWith(':') ? '[^/]+' : segment.replaceAll(/[.+?^${}()|[\]\\]/g, String.raw`\$&`)))
    .join('/')
    .replaceAll('*', '.*');
  return new RegExp(`^${source}$`);
}
