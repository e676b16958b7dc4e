import { IsOptional, Matches, ValidateBy } from 'class-validator';
import { Choice, Integer, Text, Url, Uuid } from '#libs/contract';
import { loadEnv } from '#libs/server';
import { TrustedProxies } from './trusted-proxies.js';

export const Role = { api: 'api', worker: 'worker', all: 'all' } as const;
export type Role = (typeof Role)[keyof typeof Role];

const NodeEnvironment = { production: 'production', development: 'development', test: 'test' } as const;

/** In production tokens travel in callbacks to this address, so it is https or the program does not start. */
function HttpsInProduction(): PropertyDecorator {
  return ValidateBy({
    name: 'httpsInProduction',
    validator: {
      validate: (value, args) =>
        (args?.object as Env | undefined)?.NODE_ENV !== NodeEnvironment.production ||
        String(value).startsWith('https:'),
      defaultMessage: () => '$property must be an https address in production',
    },
  });
}

/** The BFF's variables; the only place that reads them. */
export class Env {
  /** 0 takes a free port. */
  @Integer({ optional: true, query: true, min: 0, max: 65_535 }) BFF_PORT = 3001;
  /** Where browsers and the aggregator reach us, without a slash at the end. */
  @HttpsInProduction() @Matches(/[^/]$/) @Url() BFF_URL!: string;
  /**
   * The proxies before us, as a count of hops or as addresses and CIDR ranges. What they say in `X-Forwarded-For` is the customer's
   * address, which institutions ask for; nobody is believed by default.
   */
  @IsOptional() @TrustedProxies() TRUSTED_PROXIES?: string;
  @Text({ pattern: /^postgres(ql)?:\/\// }) DATABASE_URL!: string;
  /** Connections of the pool, at most. */
  @Integer({ optional: true, query: true, min: 2, max: 200 }) DATABASE_POOL_SIZE = 10;
  @Text({ optional: true, pattern: /^rediss?:\/\// }) REDIS_URL?: string;
  /** `id:base64(32 bytes)[,…]`: the first seals, all open. */
  @Text() SEALING_KEYS!: string;
  @Choice(Role, 'Role', { optional: true }) ROLE: Role = Role.all;
  @Url() AGGREGATOR_URL!: string;
  @Uuid() AGGREGATOR_APPLICATION_ID!: string;
  @Text() AGGREGATOR_APPLICATION_SECRET!: string;
  /** Signs the tokens of sessions (HS256), so at least 256 bits. */
  @Text({ minLength: 32 }) SESSION_KEY!: string;
  /** What an operator signs in with to create merchants. */
  @Text({ minLength: 32 }) OPERATOR_KEY!: string;
  /** Events, what became of them, webhooks that came in and ended synchronisations are kept so long: a merchant can catch up. */
  @Integer({ optional: true, query: true, min: 30, max: 3_650 }) EVENT_RETENTION_DAYS = 30;
  /**
   * What proves that consents and customers' data have ended, which names nobody: three years, within which claims are usually made
   * (GDPR, article 5(2)).
   */
  @Integer({ optional: true, query: true, min: 30, max: 3_650 }) PROOF_RETENTION_DAYS = 1_096;
  /**
   * The money of deleted customers' payments, without the person: seven years, which covers the six of bookkeeping in most countries
   * and the five of Directive (EU) 2015/849, article 40.
   */
  @Integer({ optional: true, query: true, min: 30, max: 7_305 }) PAYMENT_RECORD_RETENTION_DAYS = 2_557;
  /**
   * How long the deletion of a customer waits for banks that do not confirm the end of a consent. A month is the most that the law
   * gives (GDPR, article 12(3)); what is unconfirmed by then is told, and the customer's data go all the same.
   */
  @Integer({ optional: true, query: true, min: 1, max: 720 }) DELETION_PATIENCE_HOURS = 72;
  /** How long a merchant's endpoint may take for one request. */
  @Integer({ optional: true, query: true, min: 100, max: 30_000 }) WEBHOOK_TIMEOUT_MS = 15_000;
  /** Calls a minute of one API key, and of one customer's sessions together. */
  @Integer({ optional: true, query: true, min: 1 }) RATE_LIMIT_API_KEY = 60_000;
  @Integer({ optional: true, query: true, min: 1 }) RATE_LIMIT_SESSION = 60_000;
  @Choice(NodeEnvironment, 'NodeEnvironment', { optional: true }) NODE_ENV: string = NodeEnvironment.development;
}

/** Reads and checks the environment; on faults every faulty name is printed and the process ends with 1. */
export function readEnv(): Env {
  return loadEnv(Env, process.env);
}

/** Whether sandbox liberties (any return address, plain http) are refused. */
export function isProduction(env: Pick<Env, 'NODE_ENV'>): boolean {
  return env.NODE_ENV === NodeEnvironment.production;
}
