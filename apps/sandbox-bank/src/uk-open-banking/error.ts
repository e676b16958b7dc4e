import { randomUUID } from 'node:crypto';

const titles: Record<number, string> = {
  400: '400 BadRequest',
  401: '401 Unauthorized',
  403: '403 Forbidden',
  404: '404 NotFound',
  405: '405 MethodNotAllowed',
  406: '406 NotAcceptable',
  409: '409 Conflict',
  413: '413 ContentTooLarge',
  415: '415 UnsupportedMediaType',
  422: '422 UnprocessableContent',
  500: '500 InternalServerError',
};

export interface BankFault {
  /** OBExternalStatusReason1Code, `U001` and the like. */
  ErrorCode: string;
  Message: string;
  Path?: string;
}

/** An answer of the standard's error shape (OBErrorResponse1). Thrown by handlers, sent by the error handler. */
export class BankError extends Error {
  constructor(
    readonly status: number,
    readonly faults: readonly BankFault[],
  ) {
    super(faults[0]?.Message ?? titles[status] ?? 'error');
  }

  /** 401 carries no body, as section 2.10 says banks mostly answer. */
  get body(): object | undefined {
    if (this.faults.length === 0) return undefined;
    return {
      Id: randomUUID(),
      Code: titles[this.status] ?? String(this.status),
      Message: this.message,
      Errors: this.faults,
    };
  }
}

const one = (status: number, ErrorCode: string, Message: string, Path?: string): BankError =>
  new BankError(status, [{ ErrorCode, Message, ...(Path !== undefined && { Path }) }]);

/** The standard's refusals, one line each. */
export const refusals = {
  unauthorised: () => new BankError(401, []),
  forbidden: (message: string) => one(403, 'U000', message),
  reauthenticate: () => one(403, 'U028', 'The PSU has to authenticate again'),
  fieldInvalid: (path: string, message: string) => one(400, 'U002', message, path),
  fieldMissing: (path: string) => one(400, 'U004', `${path} is missing`, path),
  fieldUnexpected: (path: string) => one(400, 'U005', `${path} is not expected`, path),
  headerInvalid: (name: string, message: string) => one(400, 'U006', message, name),
  headerMissing: (name: string) => one(400, 'U007', `${name} is missing`, name),
  consentMismatch: (path: string) => one(400, 'U008', `${path} differs from the consent`, path),
  consentStatus: (message: string) => one(400, 'U009', message, 'Data.ConsentId'),
  malformed: (message: string) => one(400, 'U010', message),
  notFound: (what: string) => one(400, 'U011', `${what} is not known`),
  unsupportedAccount: (path: string) => one(400, 'U021', 'The account identification is not right', path),
  unsupportedScheme: (path: string) => one(400, 'U027', 'The account scheme is not supported', path),
  unsupportedCurrency: (path: string) => one(400, 'U023', 'The currency is not supported', path),
  signatureInvalid: (message: string) => one(400, 'U015', message),
  signatureClaimInvalid: (claim: string) => one(400, 'U016', `${claim} is not right`, claim),
  signatureClaimMissing: (claim: string) => one(400, 'U017', `${claim} is missing`, claim),
  signatureMalformed: () => one(400, 'U018', 'x-jws-signature is not a detached JWS'),
  signatureMissing: () => one(400, 'U019', 'x-jws-signature is missing'),
  keyReused: () => one(422, 'U006', 'x-idempotency-key was used with another body', 'x-idempotency-key'),
  alreadyExists: () => one(409, 'U029', 'The consent has a payment order already'),
  unsupportedMedia: () => one(415, 'U006', 'The content type must be application/json', 'Content-Type'),
  notAcceptable: () => one(406, 'U006', 'The answer is application/json', 'Accept'),
  unexpected: () => one(500, 'U000', 'An unexpected error occurred'),
};
