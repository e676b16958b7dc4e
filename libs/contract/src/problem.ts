/** One fault inside an error answer. `parameter` is a header or query name, or a JSONPath into the body. */
export interface Issue {
  type: string;
  code: string | number;
  parameter?: string;
  message?: string;
}

/** A faulty member of an application body, in the interface's own short form. */
export interface FieldError {
  fieldName: string;
  error: 'MANDATORY' | 'INVALID_FORMAT';
}

export type ProblemSource = 'YAPILY' | 'INSTITUTION' | 'USER';

interface ProblemDetails {
  status: number;
  issues?: Issue[];
  message?: string;
  source?: ProblemSource;
  institutionError?: { errorMessage: string; httpStatusCode?: number };
  fields?: FieldError[];
  headers?: Record<string, string>;
}

/** The status texts of the interface; most are the words of HTTP in capitals. */
const statusTexts: Readonly<Record<number, string>> = {
  400: 'BAD_REQUEST',
  401: 'UNAUTHORIZED',
  403: 'FORBIDDEN',
  404: 'NOT_FOUND',
  405: 'METHOD_NOT_ALLOWED',
  406: 'NOT_ACCEPTABLE',
  408: 'REQUEST_TIMEOUT',
  409: 'CONFLICT',
  410: 'GONE',
  413: 'PAYLOAD_TOO_LARGE',
  415: 'UNSUPPORTED_MEDIA_TYPE',
  422: 'UNPROCESSABLE_CONTENT',
  424: 'FAILED_DEPENDENCY',
  429: 'TOO_MANY_REQUESTS',
  431: 'REQUEST_HEADER_FIELDS_TOO_LARGE',
  500: 'INTERNAL SERVER ERROR',
  502: 'BAD_GATEWAY',
  503: 'SERVICE_UNAVAILABLE',
};

/** What the interface says to its caller when it refuses. Thrown by name from `problems`; the filter writes the body. */
export class Problem extends Error {
  override readonly name = 'Problem';
  readonly status: number;
  readonly statusText: string;
  readonly issues: Issue[];
  readonly source: ProblemSource;
  readonly institutionError: { errorMessage: string; httpStatusCode?: number } | undefined;
  /** The faults as `{fieldName, error}`, for the answers that have that shape. */
  readonly fields: FieldError[];
  /** Headers that go with the answer, such as `retry-after`. */
  readonly headers: Readonly<Record<string, string>>;

  constructor(details: ProblemDetails) {
    super(details.message ?? details.issues?.[0]?.message ?? statusTexts[details.status] ?? 'Problem');
    this.status = details.status;
    this.statusText = statusTexts[details.status] ?? String(details.status);
    this.issues = details.issues ?? [];
    this.source = details.source ?? 'YAPILY';
    this.institutionError = details.institutionError;
    this.fields = details.fields ?? [];
    this.headers = details.headers ?? {};
  }
}

/** `parameter` names the offending member, `message` says what is wrong with it; both have a fitting default. */
interface Wording {
  parameter?: string;
  message?: string;
}

/** A catalogue entry: the constants of one line, completed by what the thrower knows. */
function problem(status: number, type: string, code: string | number, usual: string, headers?: Record<string, string>) {
  return ({ parameter, message = usual }: Wording = {}): Problem =>
    new Problem({
      status,
      message,
      issues: [{ type, code, ...(parameter === undefined ? {} : { parameter }), message }],
      ...(headers ? { headers } : {}),
    });
}

const challenge = { 'www-authenticate': 'Basic realm="applications", charset="UTF-8"' };
const authenticationNeeded = 'Full authentication is required to access this resource';

/** Everything the interface can say against a call, one line each. Every entry returns the Problem to throw. */
export const problems = {
  badRequest: problem(400, 'BAD_REQUEST', 'BAD_REQUEST', 'The request is not well formed'),
  unexpectedValue: problem(400, 'INVALID_REQUEST', 'INVALID_PROPERTY_UNEXPECTED_VALUE', 'The value is not allowed'),
  unexpectedValues: (issues: Issue[]): Problem => new Problem({ status: 400, issues }),
  noTransactions: problem(400, 'DATA_PLUS', 16002, 'No transactions in the selected period'),
  tooManyRecords: problem(
    400,
    'INVALID_REQUEST',
    'INVALID_PROPERTY_UNEXPECTED_VALUE',
    'Too many records: narrow the window',
  ),
  credentialsMissing: problem(
    401,
    'CREDENTIALS',
    'CREDENTIALS_MISSING',
    'Authentication header not present',
    challenge,
  ),
  credentialsInvalid: problem(
    401,
    'CREDENTIALS',
    10700,
    'Authorization header invalid or credentials not authenticated',
    challenge,
  ),
  forbidden: problem(403, 'INVALID_REQUEST', 'FORBIDDEN', 'Access to this resource is not allowed'),
  consentNotAuthorised: problem(403, 'INVALID_REQUEST', 'FORBIDDEN', 'The consent is not authorised'),
  consentUnknown: problem(403, 'INVALID_REQUEST', 'FORBIDDEN', 'The consent token is not valid'),
  scopeMissing: problem(
    403,
    'INVALID_REQUEST',
    'Yapily.gateway.api.scope.required',
    "You don't have the right scope to access this resource",
  ),
  notFound: problem(404, 'INVALID_REQUEST', 'NOT_FOUND', 'Resource not found'),
  methodNotAllowed: problem(405, 'INVALID_REQUEST', 'METHOD_NOT_ALLOWED', 'The method is not allowed here'),
  notAcceptableMaximum: problem(
    406,
    'RESOURCE',
    14007,
    'Maximum number of resources that can be created has been reached',
  ),
  requestTimeout: problem(408, 'INVALID_REQUEST', 'REQUEST_TIMEOUT', 'The request did not arrive in time'),
  conflict: problem(409, 'INVALID_REQUEST', 'CONFLICT', 'The resource already exists or was changed by another call'),
  payloadTooLarge: problem(413, 'INVALID_REQUEST', 'PAYLOAD_TOO_LARGE', 'The request body is too large'),
  unsupportedMediaType: problem(415, 'INVALID_REQUEST', 'UNSUPPORTED_MEDIA_TYPE', 'The content type is not supported'),
  featureNotSupported: ({
    message = 'The institution does not support this feature',
  }: { message?: string } = {}): Problem =>
    new Problem({
      status: 424,
      message,
      issues: [{ type: 'INVALID_REQUEST', code: 'FEATURE_NOT_SUPPORTED', message }],
    }),
  /** How long the institution asks to be left alone is passed on in whole seconds. */
  institutionFailed: (failure: {
    errorMessage: string;
    httpStatusCode?: number | undefined;
    retryAfterMs?: number | undefined;
  }): Problem =>
    new Problem({
      status: 424,
      source: 'INSTITUTION',
      message: 'The institution could not fulfil the request',
      institutionError: {
        errorMessage: failure.errorMessage,
        ...(failure.httpStatusCode === undefined ? {} : { httpStatusCode: failure.httpStatusCode }),
      },
      ...(failure.retryAfterMs ? { headers: { 'retry-after': String(Math.ceil(failure.retryAfterMs / 1000)) } } : {}),
    }),
  tooManyRequests: ({ retryAfter }: { retryAfter: number }): Problem => {
    const message = `Too many requests, try again in ${retryAfter} s`;
    const issues = [{ type: 'INVALID_REQUEST', code: 'TOO_MANY_REQUESTS', message }];
    return new Problem({ status: 429, issues, headers: { 'retry-after': String(retryAfter) } });
  },
  headersTooLarge: problem(
    431,
    'INVALID_REQUEST',
    'REQUEST_HEADER_FIELDS_TOO_LARGE',
    'The headers and the address together are too large',
  ),
  internal: problem(500, 'INTERNAL_SERVER_ERROR', 'INTERNAL_SERVER_ERROR', 'An unexpected error occurred'),
  unavailable: problem(503, 'SERVICE_UNAVAILABLE', 'SERVICE_UNAVAILABLE', 'The service is not ready'),
} as const;

/** What both read; when either refuses, one Problem with the issues of all that do. */
export function readBoth<A, B>(first: () => A, second: () => B): [A, B] {
  const issues: Issue[] = [];
  const tried = <T>(read: () => T): { value?: T } => {
    try {
      return { value: read() };
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      issues.push(...error.issues);
      return {};
    }
  };
  const [a, b] = [tried(first), tried(second)];
  if (issues.length > 0) throw problems.unexpectedValues(issues);
  return [a.value as A, b.value as B];
}

/**
 * The four bodies of the interface (its part 7.1).
 * `minimal` is `{code, status, message}` and concerns 401 answers only: the families that use it say more about other faults.
 * `field-list` concerns refused members of application bodies; `numeric` has five-digit codes.
 */
export type ErrorShape = 'standard' | 'minimal' | 'field-list' | 'numeric';

/** What an error body says beyond the problem itself. */
export interface ErrorSurroundings {
  /** Stands in `source` when the service itself refuses; the service's name in capitals. */
  source?: string;
  supportUrl?: string;
}

/** The wire body of a problem. Pure: the filter sends it with `problem.status` and `problem.headers`. */
export function problemBody(
  refused: Problem,
  shape: ErrorShape,
  tracingId: string,
  { source = 'YAPILY', supportUrl }: ErrorSurroundings = {},
): object {
  const { status, statusText, issues, institutionError, fields } = refused;
  if (shape === 'minimal' && status === 401) {
    return { error: { code: status, status: statusText, message: authenticationNeeded } };
  }
  if (shape === 'field-list' && status === 400) return { errors: fields.length > 0 ? fields : issues.map(fieldOf) };
  const numeric = shape === 'numeric';
  return {
    error: {
      tracingId,
      code: status,
      status: numeric && status === 404 ? 'NOT FOUND' : statusText,
      ...(supportUrl ? { supportUrl } : {}),
      source: refused.source === 'YAPILY' ? source : refused.source,
      ...(institutionError ? { institutionError } : {}),
      ...(institutionError || shape !== 'minimal' ? {} : { message: refused.message }),
      ...(institutionError ? {} : { issues: numeric ? issues.map((issue) => toNumeric(issue, status)) : issues }),
    },
  };
}

/** A fault that no rule of a class found, in the short form; what has no name is the body as a whole. */
function fieldOf({ parameter = '' }: Issue): FieldError {
  return { fieldName: parameter.replace(/^\$\.?/, '') || 'body', error: 'INVALID_FORMAT' };
}

/** The families with numeric codes know few: the detail stays in `message` and `parameter`, and other codes stay names. */
const numericCodes: Readonly<Record<number, { type: string; code: number }>> = {
  400: { type: 'BAD_REQUEST', code: 10600 },
  404: { type: 'INVALID_REQUEST', code: 10800 },
  500: { type: 'INTERNAL_SERVER_ERROR', code: 11000 },
};

function toNumeric(issue: Issue, status: number): Issue {
  return typeof issue.code === 'number' ? issue : { ...issue, ...numericCodes[status] };
}
