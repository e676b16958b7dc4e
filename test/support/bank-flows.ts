import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ModuleMetadata } from '@nestjs/common';
import { vi } from 'vitest';
import type { Account, AccountAuthorisationResponse, Consent, Envelope, ScaMethod } from '#libs/contract';
import type { IssuedKey } from '../../apps/aggregator/src/applications/application-keys.service.js';
import { TestAggregator } from './aggregator.js';
import { applicationWithCallback, callback, comeBack } from './authorise.js';
import { type SandboxBank, startSandboxBank, type Visit } from './sandbox.js';

export type Begun = AccountAuthorisationResponse & { scaMethods?: ScaMethod[]; selectedScaMethod?: ScaMethod };
export type Headers = Record<string, string>;

/** What the decoupled bank wants to know of its user. */
export const adasDevice: Headers = { 'psu-id': 'ada', 'psu-ip-address': '192.0.2.7' };

/** An aggregator before the banks of the sandbox, and a shop whose users authorise there. */
export class BankFlows {
  private people = 0;

  private constructor(
    readonly sandbox: SandboxBank,
    readonly aggregator: TestAggregator,
    readonly shop: IssuedKey,
    private readonly folder: string,
  ) {}

  /** `modules` adds to the aggregator's features: a worker, say. */
  static async start(modules: NonNullable<ModuleMetadata['imports']> = []): Promise<BankFlows> {
    const [sandbox, folder] = await Promise.all([startSandboxBank(), mkdtemp(join(tmpdir(), 'tributary-flows-'))]);
    const file = join(folder, 'tpp.json');
    const credentials = Object.fromEntries(sandbox.institutions.map(({ id }) => [id, sandbox.credentials]));
    await writeFile(file, JSON.stringify(credentials));
    const aggregator = await TestAggregator.start({
      env: { SANDBOX_URL: sandbox.url, SANDBOX_TLS_URL: sandbox.tlsUrl, TPP_CREDENTIALS_FILE: file },
      modules,
    });
    return new BankFlows(sandbox, aggregator, await applicationWithCallback(aggregator), folder);
  }

  async close(): Promise<void> {
    await Promise.all([this.aggregator.close(), this.sandbox.close()]);
    await rm(this.folder, { recursive: true });
  }

  /** A user that was never here before. */
  person(): string {
    this.people += 1;
    return `person-${this.people}`;
  }

  async ask(
    route: `${string} /${string}`,
    { expected, ...asking }: { expected: number; body?: object; headers?: Headers },
  ): Promise<Begun> {
    const { status, body } = await this.aggregator.ask<Envelope<Begun>>(route, { as: this.shop, ...asking });
    if (status !== expected) throw new Error(`${route} answered ${status}: ${JSON.stringify(body)}`);
    return body.data;
  }

  begin(institution: string, body: object = {}, headers: Headers = {}): Promise<Begun> {
    return this.ask('POST /account-auth-requests', {
      expected: 201,
      headers,
      body: { institutionId: `${institution}-sandbox`, applicationUserId: this.person(), callback, ...body },
    });
  }

  /** The user at the bank's pages, and back. */
  async visit({ authorisationUrl = '' }: Pick<Begun, 'authorisationUrl'>, wish: Visit = {}) {
    const answer = await this.sandbox.visit(authorisationUrl, wish);
    return comeBack(this.aggregator, Object.fromEntries(answer), 'form');
  }

  /** The same; a bank with a pre-step has its user visit it twice. */
  async visitTwice(begun: Begun): ReturnType<typeof this.visit> {
    const back = await this.visit(begun);
    const again = back.location?.origin === this.sandbox.url ? back.location.href : undefined;
    return again === undefined ? back : this.visit({ authorisationUrl: again });
  }

  async consentOf(id: string): Promise<Consent> {
    return (await this.aggregator.ask<Envelope<Consent>>(`GET /consents/${id}`, { as: this.shop })).body.data;
  }

  async polled(id: string, status: string): Promise<Consent> {
    const look = async () => {
      const consent = await this.consentOf(id);
      if (consent.status !== status) throw new Error(`The consent is ${consent.status}`);
      return consent;
    };
    return vi.waitFor(look, { timeout: 10_000, interval: 300 });
  }

  /** The consent reads accounts. */
  async reads(token: string | null | undefined, headers: Headers = {}): Promise<Account[]> {
    const { status, body } = await this.aggregator.ask<Envelope<Account[]>>('GET /accounts', {
      as: this.shop,
      headers: { consent: token ?? '', ...headers },
    });
    if (status !== 200 || body.data.length === 0) throw new Error(`No accounts: ${status}, ${JSON.stringify(body)}`);
    return body.data;
  }
}

/** The consent token that the application's callback got. */
export function tokenOf({ location }: { location?: URL }): string {
  return location?.searchParams.get('consent') ?? '';
}
