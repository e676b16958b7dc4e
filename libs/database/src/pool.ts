import pg from 'pg';
import { changesChannel } from './row-changes.js';
import { currentScope, scopeSetting } from './scope.js';

export type Program = 'aggregator' | 'bff';

export interface PoolSettings {
  connectionString: string;
  /** The program's Postgres schema; its tables are found without a prefix. */
  schema: Program;
  /** Most connections at once; 10 unless told. */
  max?: number;
  /** Told of every changed row that its connections hear of, before the command that changed it is complete. */
  onChange?: (tag: string) => void;
}

/** Nest's token of the process's one `pg.Pool`. */
export const POOL = Symbol('POOL');

/** The role a program works as. It owns nothing and cannot bypass row level security; migrations make it. */
export function roleOf(program: Program): string {
  return `tributary_${program}`;
}

type Checkout = (
  error: Error | undefined,
  client: pg.PoolClient | undefined,
  done: (release?: Error | boolean) => void,
) => void;

/**
 * A pool whose connections carry the scope of whoever checks them out. The setting is only sent when the connection's
 * last user had another one, so a scoped query costs one extra round trip at most and usually none.
 */
class ScopedPool extends pg.Pool {
  private readonly applied = new WeakMap<pg.PoolClient, string>();

  constructor(
    settings: pg.PoolConfig,
    private readonly onChange: PoolSettings['onChange'],
  ) {
    super(settings);
  }

  override connect(): Promise<pg.PoolClient>;
  override connect(callback: Checkout): void;
  override connect(callback?: Checkout): Promise<pg.PoolClient> | void {
    const scope = currentScope();
    const checkedOut = super.connect().then((client) => this.enter(client, scope));
    if (!callback) return checkedOut;
    checkedOut.then(
      (client) => callback(undefined, client, (release) => client.release(release)),
      (error: Error) => callback(error, undefined, () => {}),
    );
  }

  private async enter(client: pg.PoolClient, scope: string): Promise<pg.PoolClient> {
    if (this.applied.get(client) === scope) return client;
    try {
      if (!this.applied.has(client)) await this.begin(client);
      await client.query('SELECT set_config($1, $2, false)', [scopeSetting, scope]);
    } catch (error) {
      client.release(true);
      throw error;
    }
    this.applied.set(client, scope);
    return client;
  }

  private async begin(client: pg.PoolClient): Promise<void> {
    const { onChange } = this;
    if (!onChange) return;
    client.on('notification', ({ payload = '' }) => onChange(payload));
    await client.query(`LISTEN ${changesChannel}`);
  }
}

/**
 * The BFF reads long histories by the page, in the order of an index. A planner without statistics takes a new customer's for a
 * few rows, fetches all of them by a bitmap and sorts them: four times the time of the page, until autovacuum comes by.
 */
const planning: Record<Program, string> = { aggregator: '', bff: ' -c enable_bitmapscan=off' };

/**
 * The process's pool: Prisma and raw SQL both use it. Connections work as the program's own role, in its schema, with
 * every statement bounded to 30 seconds. Migrations must have been applied, because they make the role.
 */
export function createPool({ connectionString, schema, max = 10, onChange }: PoolSettings): pg.Pool {
  const settings: pg.PoolConfig = {
    connectionString,
    max,
    application_name: `tributary-${schema}`,
    connectionTimeoutMillis: 10_000,
    idleTimeoutMillis: 30_000,
    keepAlive: true,
    options:
      `-c role=${roleOf(schema)} -c search_path=${schema} -c statement_timeout=30000 ` +
      `-c idle_in_transaction_session_timeout=60000 -c timezone=UTC${planning[schema]}`,
  };
  // Only the aggregator's tables belong to tenants.
  const pool = schema === 'aggregator' ? new ScopedPool(settings, onChange) : new pg.Pool(settings);
  // Without listeners a connection that is dropped while nothing runs on it would end the process: an idle one tells the pool,
  // one that is in use tells only itself. Whoever has it in use learns of it by the next query, and the pool discards it.
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
  return pool;
}
