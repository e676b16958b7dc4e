import { Prisma } from './generated/aggregator/client.js';
import { AggregatorPrisma } from './prisma-clients.js';
import { inScope, scopeOf } from './scope.js';

const filtered = new Set([
  'findFirst',
  'findFirstOrThrow',
  'findUnique',
  'findUniqueOrThrow',
  'findMany',
  'count',
  'aggregate',
  'groupBy',
  'update',
  'updateMany',
  'updateManyAndReturn',
  'delete',
  'deleteMany',
]);

/** The column by which a model's rows belong to an application, or undefined where they only do through another table. */
function ownerField(model: string | undefined): string | undefined {
  if (model === 'Application') return 'id';
  const fields: unknown = Reflect.get(Prisma, `${model}ScalarFieldEnum`);
  return typeof fields === 'object' && fields !== null && 'applicationId' in fields ? 'applicationId' : undefined;
}

function narrow(args: unknown, field: string, applicationIds: readonly string[]): object {
  const given: Record<string, unknown> = { ...(args as object | undefined) };
  const where: Record<string, unknown> = { ...(given['where'] as object | undefined) };
  const existing = where['AND'] === undefined ? [] : [where['AND']].flat();
  return { ...given, where: { ...where, AND: [...existing, { [field]: { in: [...applicationIds] } }] } };
}

/**
 * A client that reads and writes the rows of these applications only: a filter in every query, so that indexes help, and
 * row level security under it, so that a filter forgotten elsewhere shows nothing. Cheap to make, one per request.
 */
export function scopedTo(prisma: AggregatorPrisma, applicationIds: readonly string[]) {
  scopeOf(applicationIds);
  const narrowed = prisma.$extends({
    query: {
      $allOperations({ model, operation, args, query }) {
        const field = filtered.has(operation) ? ownerField(model) : undefined;
        const scopedArgs = field === undefined ? args : narrow(args, field, applicationIds);
        // Awaited inside: Prisma's promises only start when somebody waits for them.
        return inScope(applicationIds, async () => await query(scopedArgs));
      },
    },
  });
  // A transaction takes its connection before its first query, so it must begin inside the scope too.
  const begin = narrowed.$transaction.bind(narrowed);
  return new Proxy(narrowed, {
    get(target, property, receiver): unknown {
      if (property !== '$transaction') return Reflect.get(target, property, receiver);
      return (...args: Parameters<typeof begin>) => inScope(applicationIds, async () => await begin(...args));
    },
  });
}

/** What `scopedTo` gives. */
export type ScopedPrisma = ReturnType<typeof scopedTo>;
