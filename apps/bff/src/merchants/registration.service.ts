import { randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { AggregatorClient, ClientError } from '#libs/client';
import type { RegisteredWebhook } from '#libs/contract';
import { BffPrisma, SecretBox } from '#libs/database';
import { now } from '#libs/server';
import { refusalOf } from '../aggregator/refusal.js';
import { Env } from '../config.js';

/** What the aggregator tells us about a merchant's payments. */
const categories = [
  'single_payment.status.updated',
  'single_payment.status.completed',
  'payment.state.success',
  'payment.state.failed',
];

/** What the aggregator has sent to an old address may still arrive for so long. */
const believedMs = 3_600_000;

const refusedMembers = {
  '$.name': '$.name',
  '$.merchantCategoryCode': '$.merchantCategoryCode',
  '$.ppcUserGroup': '$.ppcUserGroup',
  '$.isContractPresent': '$.isContractPresent',
};

export interface MerchantRow {
  id: string;
  name: string;
  merchantCategoryCode: string;
  ppcUserGroup: string;
  isContractPresent: boolean;
  status: string;
  subApplicationId: string | null;
  createdAt: Date;
}

type Described = Pick<MerchantRow, 'name'> & { callbackUrls: string[] };

/** A merchant's side at the aggregator: the sub-application and its webhook. Every step may be repeated after a crash. */
@Injectable()
export class RegistrationService {
  constructor(
    private readonly prisma: BffPrisma,
    private readonly secrets: SecretBox,
    private readonly aggregator: AggregatorClient,
    @Inject(Env) private readonly env: Env,
  ) {}

  /** Makes sure that both exist and are stored. `resumed` looks first for what an earlier attempt has left behind. */
  async register(merchant: MerchantRow, { resumed }: { resumed: boolean }): Promise<void> {
    try {
      const subApplicationId = merchant.subApplicationId ?? (await this.createSubApplication(merchant, resumed));
      await this.registerWebhook(merchant.id, subApplicationId, resumed);
    } catch (error) {
      // A plain refusal made nothing there, so nothing stays here; after anything else the intent waits to be taken up.
      if (error instanceof ClientError && error.status !== undefined && error.status < 424) {
        await this.prisma.merchant.deleteMany({ where: { id: merchant.id, subApplicationId: null } });
      }
      throw refusalOf(error, refusedMembers);
    }
  }

  private async createSubApplication(merchant: MerchantRow, resumed: boolean): Promise<string> {
    const application = this.described(merchant);
    const orphan = resumed ? await this.orphan(application) : undefined;
    const id = orphan ?? (await this.aggregator.createSubApplication(application)).data.id;
    const registered = { subApplicationId: id, registeredUrl: this.env.BFF_URL };
    await this.prisma.merchant.update({ where: { id: merchant.id }, data: registered });
    return id;
  }

  /** The sub-application as it is to be. */
  private described({ name, merchantCategoryCode, ppcUserGroup, isContractPresent }: MerchantRow) {
    const callbackUrls = ['connections', 'payments'].map((feature) => `${this.env.BFF_URL}/v1/${feature}/callback`);
    return { name, merchantCategoryCode, ppcUserGroup, isContractPresent, callbackUrls };
  }

  /** A sub-application of ours by that name which no merchant is mapped to: made just before a crash. */
  private async orphan({ name, callbackUrls }: Described): Promise<string | undefined> {
    const applications = await this.aggregator.searchApplications({ limit: 1000, sort: '-last_updated' });
    const ids = applications.data
      .filter((each) => each.name === name && callbackUrls.every((url) => each.callbackUrls?.includes(url)))
      .map(({ id }) => id);
    const mapped = await this.prisma.merchant.findMany({
      where: { subApplicationId: { in: ids } },
      select: { subApplicationId: true },
    });
    const taken = new Set(mapped.map(({ subApplicationId }) => subApplicationId));
    return ids.find((id) => !taken.has(id));
  }

  /** Registers the webhook and keeps its secret; one whose secret was lost in a crash is replaced. */
  private async registerWebhook(merchantId: string, subApplicationId: string, resumed: boolean): Promise<void> {
    const known = await this.prisma.webhookSecret.findFirst({ where: { merchantId, retiredAt: null } });
    if (known) return;
    if (resumed)
      await this.removeWebhooks(subApplicationId, ({ callbackUrl }) => callbackUrl.main.url === this.webhookUrl);
    await this.addWebhook(merchantId, subApplicationId);
  }

  /**
   * Brings a merchant's registration to the address that we have now. The new webhook is there before the old ones go, whose
   * secrets are believed a little longer for what is on its way.
   */
  async relocate(merchantId: string): Promise<void> {
    const merchant = await this.prisma.merchant.findUnique({ where: { id: merchantId } });
    if (!merchant || merchant.subApplicationId === null) return;
    const { subApplicationId } = merchant;
    await this.aggregator.updateApplication(subApplicationId, this.described(merchant));
    await this.moveWebhook(merchantId, subApplicationId);
    const moved = { registeredUrl: this.env.BFF_URL, nextRegistrationAt: null, registrationLeaseUntil: null };
    await this.prisma.merchant.update({ where: { id: merchantId }, data: moved });
  }

  /** Only webhooks of ours are touched, which are those whose secrets we have, and ones that lead here without any. */
  private async moveWebhook(merchantId: string, subApplicationId: string): Promise<void> {
    const rows = await this.prisma.webhookSecret.findMany({ where: { merchantId }, select: { webhookId: true } });
    const known = rows.map(({ webhookId }) => webhookId);
    const leadsHere = ({ callbackUrl }: RegisteredWebhook): boolean => callbackUrl.main.url === this.webhookUrl;
    const { active } = (await this.aggregator.forSubApplication(subApplicationId).getRegisteredWebhooks()).data;
    const here = new Set(active.filter(leadsHere).map(({ id }) => id));
    if (!known.some((id) => here.has(id))) {
      await this.removeWebhooks(subApplicationId, leadsHere);
      await this.addWebhook(merchantId, subApplicationId);
    }
    await this.removeWebhooks(subApplicationId, (webhook) => known.includes(webhook.id) && !leadsHere(webhook));
    await this.prisma.webhookSecret.updateMany({
      where: { merchantId, webhookId: { in: known.filter((id) => !here.has(id)) }, retiredAt: null },
      data: { retiredAt: new Date(now().getTime() + believedMs) },
    });
  }

  private async removeWebhooks(
    subApplicationId: string,
    isUnwanted: (webhook: RegisteredWebhook) => boolean,
  ): Promise<void> {
    const application = this.aggregator.forSubApplication(subApplicationId);
    const { active } = (await application.getRegisteredWebhooks()).data;
    for (const webhook of active) if (isUnwanted(webhook)) await application.deleteWebhook(webhook.id);
  }

  private get webhookUrl(): string {
    return `${this.env.BFF_URL}/v1/webhooks/aggregator`;
  }

  /** Registers one more webhook and keeps its secret, under the id that is answered. */
  async addWebhook(merchantId: string, subApplicationId: string): Promise<string> {
    const { data } = await this.aggregator.forSubApplication(subApplicationId).registerWebhook({
      applicationId: subApplicationId,
      categories,
      callbackUrl: { main: { url: this.webhookUrl } },
    });
    const { id: webhookId, webhookSecret } = data;
    const id = randomUUID();
    await this.prisma.webhookSecret.create({
      data: {
        id,
        merchantId,
        subApplicationId,
        webhookId,
        sealedSecret: this.secrets.seal(webhookSecret, `webhook-secret:${id}`),
        createdAt: now(),
      },
    });
    return id;
  }
}
