import type { JSONWebKeySet } from 'jose';
import { kindOf, retryAfterMs, type BankResponse } from '../bank-http.js';
import type { Call, Institution, Tools } from '../connector.js';
import { InstitutionError } from '../institution-error.js';
import { isObject, readJson, unreadable } from '../wire.js';
import { errorCodeOf, errorKinds } from './codes.js';
import { createBankKeys, createSigner, verifySignature, type BankKeys, type Sign } from './jws.js';
import type { OBErrorResponse1, Version } from './uk-open-banking.types.js';

/** A call with the access token it goes under, and the version of the consent it is for. */
export interface Authorised extends Call {
  token: string;
  version: Version;
  /** A token that was refused has been renewed for this: another refusal has another reason. */
  isRenewed?: true;
}

export interface Sending<T = unknown> {
  method: 'GET' | 'POST' | 'DELETE';
  url: URL;
  /** The path with its identifiers replaced by names. */
  template: string;
  body?: unknown;
  idempotencyKey?: string;
  /** Payments are signed both ways; account reads are not (section "Message Signing"). */
  signed?: true;
  accept?: string;
  /** What an answer without content says (204): of a list, that it is empty. Absent: that we cannot read it. */
  ofNothing?: T;
}

/** One exchange as the standard wants it: headers, message signatures both ways, and errors as ours. */
export class Exchanger {
  readonly #institution: Institution<'uk-open-banking'>;
  readonly #tools: Tools;
  readonly #sign: Sign;
  readonly #keys: BankKeys;

  constructor(institution: Institution<'uk-open-banking'>, tools: Tools) {
    this.#institution = institution;
    this.#tools = tools;
    this.#sign = createSigner(tools.credentials, { settings: institution.settings, now: tools.now });
    this.#keys = createBankKeys({ load: (call) => this.#loadKeys(call), now: tools.now });
  }

  /** Sends, and reads a JSON answer with its `Data`. */
  async json<T extends { Data: object }>(call: Authorised, sending: Sending<T>): Promise<T> {
    const { status, body } = await this.send(call, sending);
    if (status === 204 && sending.ofNothing) return sending.ofNothing;
    const read = readJson(body);
    if (!isObject(read) || !isObject(read['Data'])) throw unreadable('Data');
    // From here the members are checked by the mapper, one by one, where they are used.
    return read as T;
  }

  /** Sends, and throws InstitutionError unless the bank agreed. */
  async send(call: Authorised, sending: Sending): Promise<BankResponse> {
    const { method, url, template } = sending;
    const body = sending.body === undefined ? undefined : Buffer.from(JSON.stringify(sending.body));
    const headers: Record<string, string> = {
      authorization: `Bearer ${call.token}`,
      accept: sending.accept ?? 'application/json',
      ...psuHeaders(call),
    };
    if (body) headers['content-type'] = 'application/json';
    if (sending.idempotencyKey) headers['x-idempotency-key'] = sending.idempotencyKey.slice(0, 40);
    if (sending.signed && body) headers['x-jws-signature'] = await this.#sign(body);
    const response = await this.#tools.http.send({
      institutionId: this.#institution.id,
      transport: this.#tools.credentials.transport,
      method,
      url,
      template,
      headers,
      ...(body ? { body } : {}),
      signal: call.signal,
      tracingId: call.tracingId,
    });
    if (sending.signed) await this.#verify(call, response);
    if (response.status >= 300) throw this.#failure(response);
    return response;
  }

  /** A success must be signed; of failures, gateways send some unsigned, and those only ever fail the call. */
  async #verify(call: Call, { status, headers, body }: BankResponse): Promise<void> {
    if (body.length === 0) return;
    const signature = headers['x-jws-signature'];
    if (typeof signature !== 'string') {
      if (status >= 300) return;
      throw new InstitutionError('malformed', 'The institution did not sign its answer', { httpStatus: status });
    }
    const { settings } = this.#institution;
    await verifySignature({ signature, body }, { keys: this.#keys, settings, now: this.#tools.now, call });
  }

  async #loadKeys(call: Call): Promise<JSONWebKeySet> {
    const response = await this.#tools.http.send({
      institutionId: this.#institution.id,
      transport: this.#tools.credentials.transport,
      method: 'GET',
      url: new URL(this.#institution.settings.signingKeysUrl),
      template: '/signing-keys',
      headers: { accept: 'application/json' },
      signal: call.signal,
      tracingId: call.tracingId,
    });
    if (response.status >= 300) throw this.#failure(response);
    const set = readJson(response.body);
    if (!isObject(set) || !Array.isArray(set['keys'])) throw unreadable('signing keys');
    return { keys: set['keys'] };
  }

  #failure({ status, headers, body }: BankResponse): InstitutionError {
    const { code, message } = faultOf(body);
    // A 404 for a whole endpoint and a 400 for an unknown id mean the same to a caller.
    const kind = errorKinds[errorCodeOf(code) ?? ''] ?? kindOf(status);
    return new InstitutionError(kind, message ?? `The institution answered ${status}`, {
      httpStatus: status,
      code,
      retryAfterMs: retryAfterMs(headers['retry-after'], this.#tools.now()),
    });
  }
}

function psuHeaders({ psu }: Call): Record<string, string> {
  return {
    ...(psu.ipAddress ? { 'x-fapi-customer-ip-address': psu.ipAddress } : {}),
    ...(psu.userAgent ? { 'x-customer-user-agent': psu.userAgent } : {}),
    ...(psu.lastLoginAt ? { 'x-fapi-auth-date': psu.lastLoginAt.toUTCString() } : {}),
  };
}

/** `OBErrorResponse1`, from which gateways deviate: whatever is no such body has no code and no message. */
function faultOf(body: Buffer): { code?: string; message?: string } {
  let read: unknown;
  try {
    read = readJson(body);
  } catch {
    return {};
  }
  if (!isObject(read)) return {};
  const { Errors, Code, Message }: OBErrorResponse1 = read;
  const first = Array.isArray(Errors) ? Errors[0] : undefined;
  const code = first?.ErrorCode ?? Code;
  const message = first?.Message ?? Message ?? code;
  return {
    ...(typeof code === 'string' ? { code } : {}),
    ...(typeof message === 'string' ? { message } : {}),
  };
}
