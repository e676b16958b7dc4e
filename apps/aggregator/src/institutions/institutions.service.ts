import { readFileSync } from 'node:fs';
import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Histogram } from 'prom-client';
import { type Feature, type Institution as InstitutionRecord, type Problem, problems } from '#libs/contract';
import {
  BankHttp,
  connect,
  type Connector,
  type Exchange,
  features,
  type Institution,
  InstitutionError,
  institutions,
  sandboxInstitutions,
  type TppCredentials,
  WalkLimitError,
} from '#libs/connectors';
import { createLogger, Metrics, now } from '#libs/server';
import { Env } from '../config.js';

/** An institution with what can be done there. */
export interface ReachableInstitution {
  data: Institution;
  features: Feature[];
  connector: Connector;
}

const log = createLogger('institutions');

/** The institutions at which we are registered, each with its connector, made once. */
@Injectable()
export class InstitutionsService implements OnApplicationShutdown {
  private readonly credentials: ReadonlyMap<string, TppCredentials>;
  private readonly known: ReadonlyMap<string, Institution>;
  private readonly reached = new Map<string, ReachableInstitution>();
  private readonly http: BankHttp;

  constructor(
    private readonly env: Env,
    metrics: Metrics,
  ) {
    this.credentials = readCredentials(env.TPP_CREDENTIALS_FILE);
    const { SANDBOX_URL: sandboxUrl, SANDBOX_TLS_URL: sandboxTlsUrl } = env;
    const sandbox = sandboxUrl === undefined ? [] : sandboxInstitutions(sandboxUrl, sandboxTlsUrl);
    const all = [...institutions, ...sandbox];
    this.known = new Map(all.filter(({ id }) => this.credentials.has(id)).map((each) => [each.id, each]));
    const durations = new Histogram({
      name: 'bank_request_duration_seconds',
      help: 'Time of one exchange with an institution.',
      labelNames: ['institution', 'method', 'template', 'outcome'],
      buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20],
      registers: [metrics],
    });
    this.http = new BankHttp({ report: (exchange) => report(exchange, durations) });
  }

  async onApplicationShutdown(): Promise<void> {
    await this.http.close();
  }

  /** Whether applications may be called back on plain http. */
  get allowPlainHttpCallbacks(): boolean {
    return this.env.allowsPrivateCallbacks;
  }

  /** Every institution as the interface shows it, by id. */
  list(): InstitutionRecord[] {
    return [...this.known.keys()].toSorted().map((id) => this.show(id));
  }

  /** One institution as the interface shows it; 404 when it is unknown. */
  show(id: string): InstitutionRecord {
    const { data, features: offered } = this.require(id, 'institutionId');
    const { name, fullName, countries, environmentType, credentialsType, media } = data;
    return { id, name, fullName, countries, environmentType, credentialsType, media, features: offered };
  }

  /** An institution and its connector; 404 naming `parameter` when it is unknown. */
  require(id: string, parameter = '$.institutionId'): ReachableInstitution {
    const found = this.reached.get(id) ?? this.reach(id);
    if (!found) throw problems.notFound({ parameter, message: 'There is no such institution' });
    return found;
  }

  /** The connector of an institution that a stored consent or payment names. */
  connector(id: string): Connector {
    return this.require(id).connector;
  }

  /** Where the institution sends browsers back to; registered there with our credentials. */
  redirectUri(id: string): string {
    const credentials = this.credentials.get(id);
    if (!credentials)
      throw problems.notFound({ parameter: '$.institutionId', message: 'There is no such institution' });
    return credentials.redirectUri;
  }

  /** Runs a call to an institution and answers its failure as the interface does. */
  async asking<T>(ask: () => Promise<T>): Promise<T> {
    try {
      return await ask();
    } catch (error) {
      throw this.problemOf(error);
    }
  }

  /** The interface's word for a failure at an institution; whatever else was thrown comes back as it is. */
  problemOf(error: unknown): unknown {
    return toProblem(error) ?? error;
  }

  private reach(id: string): ReachableInstitution | undefined {
    const data = this.known.get(id);
    const credentials = this.credentials.get(id);
    if (!data || !credentials) return undefined;
    const connector = connect(data, { http: this.http, now, credentials });
    const reached = { data, features: features(data), connector };
    this.reached.set(id, reached);
    return reached;
  }
}

function readCredentials(file: string | undefined): Map<string, TppCredentials> {
  if (file === undefined) return new Map();
  return new Map(Object.entries(JSON.parse(readFileSync(file, 'utf8')) as Record<string, TppCredentials>));
}

function report(exchange: Exchange, durations: Histogram<'institution' | 'method' | 'template' | 'outcome'>): void {
  const { institutionId, method, template, status, ms, failure } = exchange;
  const outcome = failure ?? String(status ?? 'aborted');
  durations.observe({ institution: institutionId, method, template, outcome }, ms / 1_000);
  log.info({ institutionId, method, template, status, failure, ms: Math.round(ms) }, 'institution answered');
}

/** The Problem for an error of a connector, or undefined for any other error. */
export function toProblem(error: unknown): Problem | undefined {
  if (error instanceof WalkLimitError) return problems.tooManyRecords({ message: error.message });
  if (error instanceof InstitutionError) {
    if (error.kind === 'consent-gone') return problems.consentNotAuthorised();
    const { message: errorMessage, httpStatus: httpStatusCode, retryAfterMs } = error;
    return problems.institutionFailed({ errorMessage, httpStatusCode, retryAfterMs });
  }
  // The reason of AbortSignal.timeout: our own patience with the institution ran out.
  if (error instanceof DOMException && error.name === 'TimeoutError') {
    return problems.institutionFailed({ errorMessage: 'The institution did not answer in time' });
  }
  return undefined;
}
