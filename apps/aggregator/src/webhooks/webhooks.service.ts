import { randomBytes, randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import {
  type Issue,
  problems,
  type RegisteredWebhook,
  type RegisteredWebhookWithStatus,
  type RegisterWebhookRequest,
  WebhookStatusType,
  type WebhookWithSecret,
} from '#libs/contract';
import { AggregatorPrisma, scopedTo, SecretBox } from '#libs/database';
import { callbackUrlFault, now } from '#libs/server';
import type { Tenant } from '../auth/tenant.js';
import { Env } from '../config.js';
import { signingSecretOf, webhookSecretContext } from './delivery-body.js';
import { isEventCategory } from './event-category.js';

const webhooksMax = 10;
const metadataBytesMax = 10_000;

interface WebhookRow {
  id: string;
  applicationId: string;
  categories: string[];
  mainUrl: string;
  backupUrl: string | null;
  metadata: unknown;
  status: string;
}

/** The webhooks of one application: the effective one, never those of its sub-applications. */
@Injectable()
export class WebhooksService {
  constructor(
    private readonly env: Env,
    private readonly prisma: AggregatorPrisma,
    private readonly box: SecretBox,
  ) {}

  /** Registers a webhook. Its secret is answered here and never again; what is kept can only sign. */
  async register(tenant: Tenant, body: RegisterWebhookRequest): Promise<WebhookWithSecret> {
    const applicationId = tenant.application.id;
    this.refuseFaults(applicationId, body);
    const id = randomUUID();
    const webhookSecret = newSecret();
    const data = {
      id,
      applicationId,
      categories: body.categories,
      mainUrl: body.callbackUrl.main.url,
      backupUrl: body.callbackUrl.backup?.url ?? null,
      ...(body.metadata ? { metadata: body.metadata } : {}),
      status: WebhookStatusType.active,
      sealedSecret: this.box.seal(webhookSecret, webhookSecretContext(id)),
      createdAt: now(),
    };
    const row = await this.scoped(tenant).$transaction(async (tx) => {
      // The application's row is locked, so that two registrations cannot both be the tenth.
      await tx.$executeRaw`SELECT 1 FROM applications WHERE id = ${applicationId}::uuid FOR UPDATE`;
      const count = await tx.webhook.count({ where: { applicationId } });
      if (count >= webhooksMax) throw problems.notAcceptableMaximum();
      return tx.webhook.create({ data });
    });
    return { ...withStatus(row), webhookSecret };
  }

  /** Oldest first. */
  async list(tenant: Tenant): Promise<RegisteredWebhookWithStatus[]> {
    const where = { applicationId: tenant.application.id };
    const rows = await this.scoped(tenant).webhook.findMany({ where, orderBy: [{ createdAt: 'asc' }, { id: 'asc' }] });
    return rows.map(withStatus);
  }

  /** Removes a webhook with everything still on its way to it. */
  async delete(tenant: Tenant, id: string): Promise<RegisteredWebhook> {
    const where = { id, applicationId: tenant.application.id };
    const row = await this.scoped(tenant).webhook.findFirst({ where });
    const deleted = row && (await this.scoped(tenant).webhook.deleteMany({ where }));
    if (!row || deleted?.count !== 1) throw unknownWebhook();
    return toWebhook(row);
  }

  /**
   * Makes another secret, which signs when `delaySeconds` are over; until then the one that signs now goes on. A reset that has not
   * come into force is replaced.
   */
  async resetSecret(tenant: Tenant, id: string, delaySeconds: number): Promise<WebhookWithSecret> {
    const webhookSecret = newSecret();
    const fresh = this.box.seal(webhookSecret, webhookSecretContext(id));
    const at = now();
    const row = await this.scoped(tenant).$transaction(async (tx) => {
      // The row is locked, so that of two resets at once the second one knows of the first.
      await tx.$executeRaw`SELECT 1 FROM webhooks WHERE id = ${id}::uuid FOR UPDATE`;
      const known = await tx.webhook.findFirst({ where: { id, applicationId: tenant.application.id } });
      if (!known) throw unknownWebhook();
      const next = { nextSealedSecret: fresh, nextSecretAt: new Date(at.getTime() + delaySeconds * 1_000) };
      const data =
        delaySeconds === 0
          ? { sealedSecret: fresh, nextSealedSecret: null, nextSecretAt: null }
          : { sealedSecret: signingSecretOf(known, at), ...next };
      return tx.webhook.update({ where: { id }, data });
    });
    return { ...withStatus(row), webhookSecret };
  }

  private refuseFaults(applicationId: string, body: RegisterWebhookRequest): void {
    const issues: Issue[] = [];
    const refuse = (parameter: string, message: string) =>
      issues.push({ type: 'INVALID_REQUEST', code: 'INVALID_PROPERTY_UNEXPECTED_VALUE', parameter, message });
    if (body.applicationId.toLowerCase() !== applicationId) {
      refuse('$.applicationId', 'applicationId must be the application on whose behalf the call is made');
    }
    body.categories.forEach((category, index) => {
      if (!isEventCategory(category)) refuse(`$.categories[${index}]`, 'is not a known category');
    });
    for (const target of ['main', 'backup'] as const) {
      const url = body.callbackUrl[target]?.url;
      const fault =
        url === undefined ? undefined : callbackUrlFault(url, { allowPrivate: this.env.allowsPrivateCallbacks });
      if (fault) refuse(`$.callbackUrl.${target}.url`, `url ${fault}`);
    }
    if (Buffer.byteLength(JSON.stringify(body.metadata ?? {})) >= metadataBytesMax) {
      refuse('$.metadata', 'metadata must be smaller than 10 kB');
    }
    if (issues.length > 0) throw problems.unexpectedValues(issues);
  }

  private scoped(tenant: Tenant) {
    return scopedTo(this.prisma, [tenant.application.id]);
  }
}

function newSecret(): string {
  return randomBytes(32).toString('hex');
}

function unknownWebhook(): Error {
  return problems.notFound({ parameter: 'webhook_id', message: 'Webhook not found' });
}

function toWebhook(row: WebhookRow): RegisteredWebhook {
  return {
    id: row.id,
    applicationId: row.applicationId,
    categories: row.categories,
    callbackUrl: {
      main: { url: row.mainUrl },
      ...(row.backupUrl === null ? {} : { backup: { url: row.backupUrl } }),
    },
    ...(row.metadata === null ? {} : { metadata: row.metadata as Record<string, string> }),
  };
}

function withStatus(row: WebhookRow): RegisteredWebhookWithStatus {
  return { ...toWebhook(row), status: row.status === 'paused' ? WebhookStatusType.paused : WebhookStatusType.active };
}
