import type { ConsentAuthCodeRequest } from '#libs/contract';
import {
  InstitutionError,
  type Call,
  type Connector,
  type Grant,
  type InstitutionErrorKind,
  type Operations,
  type Return,
  type Step,
} from '#libs/connectors';
import { now } from '#libs/server';
import type { IssuedKey } from '../../apps/aggregator/src/applications/application-keys.service.js';
import { TestAggregator } from './aggregator.js';
import {
  applicationWithCallback,
  callback,
  comeBack,
  domesticPayment,
  grantedAccount,
  grantedPayment,
} from './authorise.js';
import {
  DescribedInterface,
  type DescribedOperation,
  type DescribedSchema,
  type RawAnswer,
} from './described-interface.js';
import { scriptedConnector, scriptedInstitution, scriptInstitution } from './scripted-connector.js';

/** What one request sends. A parameter of the path or a header by its name; `body` is text as it goes over the wire. */
export interface Sample {
  path?: Record<string, string>;
  query?: Record<string, string>;
  headers?: Record<string, string>;
  body?: unknown;
}

/** The parameters of most requests. */
type Usual = Required<Pick<Sample, 'path' | 'headers'>>;

export interface RawRequest {
  method: DescribedOperation['method'];
  url: string;
  headers: Record<string, string>;
  payload?: string;
}

const asked = { institutionId: scriptedInstitution.id, applicationUserId: 'ann' };
const identified = { accountIdentifications: [{ type: 'IBAN', identification: 'DE89370400440532013000' }] };
const paymentToBe = {
  scope: 'PIS',
  payee: { name: 'Shop', country: 'DE', ...identified },
  payer: identified,
  amount: { amount: 1, currency: 'EUR' },
  reference: 'Order 7',
};
const application = { name: 'Branch', merchantCategoryCode: '5411', ppcUserGroup: 'TAX', isContractPresent: true };
const configuresLimits = 'createApplicationVRPConfigurationByApplicationId';
const userCredentials = { id: 'ann-login', password: 'correct horse' };

/** An aggregator with one bank that can do everything, one of each thing in it, and a request that each operation grants. */
export class InterfaceWorld {
  /** While set, the bank answers nothing else. */
  bankFails: InstitutionErrorKind | undefined;
  samples: Record<string, Sample> = {};
  private made = 0;

  private constructor(
    readonly aggregator: TestAggregator,
    readonly described: DescribedInterface,
    readonly root: IssuedKey,
    readonly stranger: IssuedKey,
  ) {}

  static async start(): Promise<InterfaceWorld> {
    const [aggregator, described] = await Promise.all([TestAggregator.start(), DescribedInterface.read()]);
    const [root, stranger] = [await applicationWithCallback(aggregator), await applicationWithCallback(aggregator)];
    const world = new InterfaceWorld(aggregator, described, root, stranger);
    scriptInstitution(aggregator, world.bank());
    await world.refresh();
    return world;
  }

  close(): Promise<void> {
    return this.aggregator.close();
  }

  /** Makes one more of everything, so that what was used up or deleted does not run out. */
  async refresh(): Promise<void> {
    this.bankFails = undefined;
    this.made += 1;
    const branch = await this.create('POST /applications', application);
    const user = await this.create('POST /users', { applicationUserId: `user-${this.made}` });
    const account = await grantedAccount(this.aggregator, this.root);
    const webhook = await this.create('POST /webhook/events', hookOf(branch), branch);
    const usual: Usual = {
      path: {
        accountId: 'a-1',
        statementId: 'st-1',
        applicationId: branch,
        userUuid: user,
        userId: user,
        consentId: account.id,
        webhook_id: webhook,
        institutionId: scriptedInstitution.id,
      },
      headers: { consent: account.token, 'psu-ip-address': '192.0.2.7' },
    };
    const samples = {
      ...this.managementSamples(branch, usual),
      ...(await this.authorisationSamples(usual)),
      ...(await this.paymentSamples(usual)),
    };
    for (const { operationId, body } of this.described.operations) {
      const general = body ? { body: this.bodyOf(body.schema, 'required') } : {};
      this.samples[operationId] = { ...usual, ...general, ...samples[operationId] };
    }
    const limits = this.described.operations.find((each) => each.operationId === configuresLimits);
    if (limits) await this.send(this.requestOf(limits, this.samples[configuresLimits] ?? {}));
  }

  private managementSamples(branch: string, { headers }: Usual): Record<string, Sample> {
    const ofBranch = { headers: { ...headers, 'sub-application': branch } };
    const constrained = { institutionIds: scriptedInstitution.id, institutionCountryCode: 'GB' };
    return {
      addUser: { body: { applicationUserId: `added-${this.made}` } },
      patchUser: { body: [{ op: 'replace', path: '/referenceId', value: 'r-1' }] },
      createSubApplication: { body: application },
      updateApplication: { body: { ...application, name: 'Renamed' } },
      registerWebhook: { ...ofBranch, body: hookOf(branch) },
      deleteWebhook: ofBranch,
      webhookSecretReset: { ...ofBranch, body: { delay: 60 } },
      getAccountConstraintsRulesByInstitution: { query: constrained },
      getPaymentConstraintsRulesByInstitution: { query: { ...constrained, paymentType: 'DOMESTIC_PAYMENT' } },
    };
  }

  private async authorisationSamples({ path, headers }: Usual): Promise<Record<string, Sample>> {
    const mine = { ...asked, callback };
    const embedded = await this.create('POST /embedded-account-auth-requests', { ...asked, userCredentials });
    const consent = await this.throughCallback('POST /pre-auth-requests', { ...mine, scope: 'AIS' }, 'consent');
    const once = { ...mine, oneTimeToken: true };
    const oneTimeToken = await this.throughCallback('POST /account-auth-requests', once, 'one-time-token');
    return {
      initiateAccountRequest: { body: mine },
      createPreAuthorisationRequest: { body: { ...mine, scope: 'AIS' } },
      updatePreAuthoriseAccountConsent: { headers: { ...headers, consent }, body: mine },
      initiateEmbeddedAccountRequest: { body: { ...asked, userCredentials } },
      updateEmbeddedAccountRequest: { path: { ...path, consentId: embedded }, body: { ...asked, scaCode: '123456' } },
      extendConsent: { body: { lastConfirmedAt: now().toISOString() } },
      getConsentBySingleAccessConsent: { body: { oneTimeToken } },
      createConsentWithCode: { body: await this.codeOfOwnRedirect() },
    };
  }

  private async paymentSamples({ path, headers }: Usual): Promise<Record<string, Sample>> {
    const begun = domesticPayment(`new-${this.made}`);
    const due = domesticPayment(`due-${this.made}`);
    const { token } = await grantedPayment(this.aggregator, this.root, due);
    const paid = await this.paid(`paid-${this.made}`);
    return {
      createPaymentAuthorisation: { body: { ...asked, callback, paymentRequest: begun } },
      createPaymentPreAuthorisationRequest: { body: { ...asked, callback, ...paymentToBe } },
      createPayment: { headers: { ...headers, consent: token }, body: due },
      getPayments: { path: { ...path, paymentId: paid.paymentId }, headers: { ...headers, consent: paid.token } },
    };
  }

  /** A body made of the schema alone. */
  bodyOf(described: DescribedSchema, members: 'required' | 'all', depth = 0): unknown {
    const schema = this.described.resolve(described);
    if (schema.enum) return schema.enum[0];
    if (schema.type === 'array') return depth > 5 ? [] : [this.bodyOf(schema.items ?? {}, members, depth + 1)];
    if (schema.type === 'number' || schema.type === 'integer') return 1;
    if (schema.type === 'boolean') return true;
    if (schema.type === 'string') return textOf(schema.format);
    if (depth > 5) return {};
    const present = Object.entries(schema.properties ?? {}).filter(
      ([name]) => members === 'all' || schema.required?.includes(name),
    );
    return Object.fromEntries(present.map(([name, inner]) => [name, this.bodyOf(inner, members, depth + 1)]));
  }

  /** The request of a sample; parameters that the operation does not have are left out. */
  requestOf(
    { method, path, parameters, body }: DescribedOperation,
    sample: Sample,
    as: IssuedKey | undefined = this.root,
  ): RawRequest {
    const template = path.replaceAll(/\{([^}]+)\}/g, (_all, name: string) =>
      encodeURIComponent(sample.path?.[name] ?? 'none'),
    );
    const named = new Set(parameters.filter((parameter) => parameter.in === 'header').map(({ name }) => name));
    const own = Object.entries(sample.headers ?? {}).filter(([name]) => named.has(name));
    const query = new URLSearchParams(sample.query).toString();
    return {
      method,
      url: query === '' ? template : `${template}?${query}`,
      headers: {
        ...(as ? credentials(as) : {}),
        ...Object.fromEntries(own),
        ...(body ? { 'content-type': body.type } : {}),
      },
      ...(body ? { payload: JSON.stringify(sample.body) } : {}),
    };
  }

  async send(request: RawRequest): Promise<RawAnswer & { headers: Record<string, unknown> }> {
    const { statusCode, headers, payload } = await this.aggregator.app.inject(request);
    return { status: statusCode, headers, contentType: headers['content-type'] ?? '', text: payload };
  }

  private async create(route: `${string} /${string}`, body: object, subApplication?: string): Promise<string> {
    const answer = await this.aggregator.ask<{ uuid?: string; data?: { id: string } }>(route, {
      as: this.root,
      body,
      ...(subApplication === undefined ? {} : { subApplication }),
    });
    const id = answer.body.data?.id ?? answer.body.uuid;
    if (answer.status !== 201 || id === undefined) throw new Error(`${route} answered ${JSON.stringify(answer.body)}`);
    return id;
  }

  private async paid(key: string): Promise<{ token: string; paymentId: string }> {
    const body = domesticPayment(key);
    const { token } = await grantedPayment(this.aggregator, this.root, body);
    const answer = await this.aggregator.ask<{ data: { id: string } }>('POST /payments', {
      as: this.root,
      headers: { consent: token },
      body,
    });
    return { token, paymentId: answer.body.data.id };
  }

  /** Begins what ends in the application's callback, and takes `parameter` from there. */
  private async throughCallback(route: `${string} /${string}`, body: object, parameter: string): Promise<string> {
    const { body: begun } = await this.aggregator.ask<{ data: { state?: string } }>(route, { as: this.root, body });
    const { location } = await comeBack(this.aggregator, { code: 'c-1', state: begun.data.state ?? '' });
    return location?.searchParams.get(parameter) ?? '';
  }

  /** What an application that has a redirect of its own gets from the bank. */
  private async codeOfOwnRedirect(): Promise<ConsentAuthCodeRequest> {
    const body = { ...asked, redirect: { url: callback } };
    const begun = await this.aggregator.ask<{ data: { state?: string } }>('POST /account-auth-requests', {
      as: this.root,
      body,
    });
    await comeBack(this.aggregator, { code: 'c-1', state: begun.body.data.state ?? '' });
    return { authCode: 'c-1', authState: begun.body.data.state ?? '' };
  }

  /** The scripted bank with every way of authorisation, which fails when it is told to. */
  private bank(): Connector {
    const pending: Grant = { institutionConsentId: 'e-1', state: {} };
    const identify = async (_call: Call, { state }: Return): Promise<Step> => {
      return { kind: 'redirect', url: `https://bank.test/identify?state=${state}`, pending };
    };
    const initiate: Partial<Operations> = {
      INITIATE_PRE_AUTHORISATION: identify,
      INITIATE_ONETIME_PRE_AUTHORISATION_PAYMENTS: identify,
      INITIATE_EMBEDDED_ACCOUNT_REQUEST: async () => {
        return { kind: 'enter-code', method: { id: 'm-1', type: 'SMS_OTP', description: 'SMS' }, pending };
      },
    };
    const scripted = scriptedConnector();
    const refuse = () => {
      if (this.bankFails) throw new InstitutionError(this.bankFails, 'Out of order', { httpStatus: 400 });
    };
    const able = Object.entries({ ...scripted.operations, ...initiate }).map(([feature, work]) => {
      const failing = async (...args: unknown[]): Promise<unknown> => {
        refuse();
        return Reflect.apply(work, undefined, args) as Promise<unknown>;
      };
      return [feature, failing] as const;
    });
    const proceed: Connector['proceed'] = async (...args) => {
      refuse();
      return scripted.proceed(...args);
    };
    return { ...scripted, proceed, operations: Object.fromEntries(able) };
  }
}

/** The header by which an application proves who it is. */
export function credentials({ id, secret }: IssuedKey): Record<string, string> {
  return { authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}` };
}

function hookOf(applicationId: string): object {
  const categories = ['single_payment.status.completed'];
  return { applicationId, categories, callbackUrl: { main: { url: 'https://shop.test/hook' } } };
}

function textOf(format: string | undefined): string {
  if (format === 'uuid') return '0b8d4f5c-6d0a-4b5e-9f5b-0a8c7f1f3a11';
  return format === 'date-time' ? '2030-01-01T00:00:00Z' : 'x';
}
