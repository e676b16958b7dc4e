import { readFileSync } from 'node:fs';
import { Matches, ValidateBy, ValidateIf } from 'class-validator';
import { Choice, enumeration, Integer, Text, Url } from '#libs/contract';
import { loadEnv } from '#libs/server';

const Role = enumeration('api', 'worker', 'all');
const day = 86_400;

/** Refuses a variable that only a sandbox may have. */
function NeverInProduction(): PropertyDecorator {
  return ValidateBy({
    name: 'neverInProduction',
    validator: {
      validate: (value, args) => value === undefined || (args?.object as Env | undefined)?.NODE_ENV !== 'production',
      defaultMessage: () => '$property must not be set in production',
    },
  });
}

/** Names a file that holds JSON, so that a wrong path is found at start and not at the first bank. */
function JsonFile(): PropertyDecorator {
  const isJson = (file: unknown): boolean => {
    try {
      return typeof JSON.parse(readFileSync(String(file), 'utf8')) === 'object';
    } catch {
      return false;
    }
  };
  return ValidateBy({ name: 'jsonFile', validator: { validate: (value) => value === undefined || isJson(value) } });
}

/** Everything the aggregator reads from its environment. Checked at start; faults are listed by name. */
export class Env {
  @Text({ optional: true }) NODE_ENV?: string;
  /** `api` answers requests, `worker` runs the queues, `all` does both. */
  @Choice(Role, 'Role') ROLE: keyof typeof Role = 'all';
  @Integer({ min: 0, max: 65_535 }) AGGREGATOR_PORT = 3_000;
  /** Where browsers and banks reach this program; no slash at the end. */
  @Url() @Matches(/[^/]$/) AGGREGATOR_URL = 'http://localhost:3000';
  @Matches(/^postgres(ql)?:\/\//) DATABASE_URL!: string;
  @Integer({ min: 1, max: 100 }) DATABASE_POOL_SIZE = 10;
  @ValidateIf((env: Env) => env.REDIS_URL !== undefined) @Matches(/^rediss?:\/\//) REDIS_URL?: string;
  /** `id:base64 of 32 bytes`, several with commas: the first seals, all open. */
  @Matches(/^[\w-]+:[A-Za-z0-9+/]{43}=(,[\w-]+:[A-Za-z0-9+/]{43}=)*$/) SEALING_KEYS!: string;
  /** Names the version header and the error source of the interface. */
  @Matches(/^[a-z][a-z0-9-]{0,30}$/) SERVICE_NAME = 'yapily';
  /** Base address of the sandbox banks; their institutions exist only where it is set. */
  @Url({ optional: true }) SANDBOX_URL?: string;
  /** Where those banks take our certificates; without it at `SANDBOX_URL`. */
  @Url({ optional: true }) SANDBOX_TLS_URL?: string;
  /** A JSON file: institution id to our registration there. */
  @JsonFile() @Text({ optional: true }) TPP_CREDENTIALS_FILE?: string;
  /** A root application that is made at start when it is missing. */
  @NeverInProduction() @Text({ optional: true }) SANDBOX_APPLICATION_ID?: string;
  @NeverInProduction() @Text({ optional: true, minLength: 32 }) SANDBOX_APPLICATION_SECRET?: string;
  /** How long a webhook's receiver may take for one request. */
  @Integer({ min: 100, max: 60_000 }) WEBHOOK_TIMEOUT_MS = 10_000;
  /** Waits between the rounds of a delivery, in seconds; after the last round it is dead. */
  @Matches(/^\d{1,6}(,\d{1,6}){0,19}$/) WEBHOOK_RETRY_SECONDS = [60, 300, 1_800, 7_200, 21_600, day].join(',');

  /** Events with their deliveries and attempts are kept so long, and those that are still to be delivered until they have been. */
  @Integer({ min: 7, max: 3_650 }) EVENT_RETENTION_DAYS = 30;

  /** Whether events may go to plain http and to private addresses. */
  get allowsPrivateCallbacks(): boolean {
    return this.NODE_ENV !== 'production';
  }

  get webhookRetrySeconds(): number[] {
    return this.WEBHOOK_RETRY_SECONDS.split(',').map(Number);
  }
}

/** Reads the process's environment; a faulty one ends the process with the names of all faulty variables. */
export function readEnv(): Env {
  return loadEnv(Env, process.env);
}
