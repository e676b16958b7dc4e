import type { Issue } from '#libs/contract';

interface Failure {
  operation: string;
  message: string;
  status?: number | undefined;
  body?: unknown;
  retryable: boolean;
  timedOut?: boolean;
  retryAfter?: number | undefined;
  cause?: unknown;
}

/**
 * A call to the aggregator that did not succeed: refused by it, or never answered.
 * The message names the operation and the status, never what was sent or received.
 */
export class ClientError extends Error {
  override readonly name = 'ClientError';
  /** The operation of the interface, such as `getAccounts`. */
  readonly operation: string;
  /** The HTTP status; undefined when no answer arrived. */
  readonly status: number | undefined;
  /** The parsed body of the refusal, whatever it is. */
  readonly body: unknown;
  /** The same call may be made again without risk, and may then succeed. */
  readonly retryable: boolean;
  /** The deadline passed first: what the aggregator did is not known. */
  readonly timedOut: boolean;
  /** Seconds after which the aggregator asks to come back. */
  readonly retryAfter: number | undefined;

  constructor(failure: Failure) {
    super(`${failure.operation}: ${failure.message}`, { cause: failure.cause });
    this.operation = failure.operation;
    this.status = failure.status;
    this.body = failure.body;
    this.retryable = failure.retryable;
    this.timedOut = failure.timedOut ?? false;
    this.retryAfter = failure.retryAfter;
  }

  /** What the aggregator says is wrong; empty when it names nothing. Field lists become issues named by their field. */
  get issues(): Issue[] {
    const listed = this.error.issues;
    if (Array.isArray(listed)) return listed.filter(isIssue);
    const { errors } = record(this.body);
    if (!Array.isArray(errors)) return [];
    return errors.map((each: unknown): Issue => {
      const { fieldName, error } = record(each);
      return { type: 'INVALID_REQUEST', code: String(error), parameter: `$.${String(fieldName)}` };
    });
  }

  get tracingId(): string | undefined {
    const { tracingId } = this.error;
    return typeof tracingId === 'string' ? tracingId : undefined;
  }

  /** The institution's HTTP status, when the aggregator failed because of it. */
  get institutionStatus(): number | undefined {
    const { httpStatusCode } = record(this.error.institutionError);
    return typeof httpStatusCode === 'number' ? httpStatusCode : undefined;
  }

  private get error(): Record<string, unknown> {
    return record(record(this.body).error);
  }
}

function record(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

function isIssue(value: unknown): value is Issue {
  const { code } = record(value);
  return typeof code === 'string' || typeof code === 'number';
}
