import { randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { AggregatorClient, ClientError } from '#libs/client';
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
    const { name, merchantCategoryCode, ppcUserGroup, isContractPresent } = merchant;
    const callbackUrls = ['connections', 'payments'].map((feature) => `${this.env.BFF_URL}/v1/${feature}/callback`);
    const orphan = resumed ? await this.orphan(name, callbackUrls) : undefined;
    const application = { name, merchantCategoryCode, ppcUserGroup, isContractPresent, callbackUrls };
    const id = orphan ?? (await this.aggregator.createSubApplication(application)).data.id;
    await this.prisma.merchant.update({ where: { id: merchant.id }, data: { subApplicationId: id } });
    return id;
  }

  /** A sub-application of ours by that name which no merchant is mapped to: made just before a crash. */
  private async orphan(name: string, callbackUrls: string[]): Promise<string | undefined> {
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
    const application = this.aggregator.forSubApplication(subApplicationId);
    const url = `${this.env.BFF_URL}/v1/webhooks/aggregator`;
    if (resumed) {
      const { active } = (await application.getRegisteredWebhooks()).data;
      for (const { id, callbackUrl } of active) if (callbackUrl.main.url === url) await application.deleteWebhook(id);
    }
    await this.addWebhook(merchantId, subApplicationId);
  }

  /** Registers one more webhook and keeps its secret, under the id that is answered. */
  async addWebhook(merchantId: string, subApplicationId: string): Promise<string> {
    const { data } = await this.aggregator.forSubApplication(subApplicationId).registerWebhook({
      applicationId: subApplicationId,
      categories,
      callbackUrl: { main: { url: `${this.env.BFF_URL}/v1/webhooks/aggregator` } },
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
