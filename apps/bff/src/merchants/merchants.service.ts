import { randomBytes, randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { BffPrisma, hashToken } from '#libs/database';
import { createLogger, now } from '#libs/server';
import { apiKeyPrefix } from '../auth/api-key.strategy.js';
import type { CreatedMerchant, MerchantView, NewMerchant } from './merchant.dto.js';
import { isCutOff, MerchantStatus } from './merchant-state.js';
import { type MerchantRow, RegistrationService } from './registration.service.js';

/** Merchants and their sub-applications at the aggregator. */
@Injectable()
export class MerchantsService {
  private readonly log = createLogger('merchants');

  constructor(
    private readonly prisma: BffPrisma,
    private readonly registration: RegistrationService,
  ) {}

  /**
   * Creates a merchant, its sub-application, its webhook and its first API key, in this order. The intent is stored
   * first: a creation that a crash cut off is taken up by the next call with the same name.
   */
  async create(wanted: NewMerchant): Promise<CreatedMerchant> {
    const cutOff = await this.takeUp(wanted);
    const intent = cutOff ?? (await this.intend(wanted));
    await this.registration.register(intent, { resumed: cutOff !== undefined });
    const apiKey = `${apiKeyPrefix}${randomBytes(32).toString('base64url')}`;
    const created = await this.prisma.$transaction(async (tx) => {
      await tx.apiKey.create({
        data: {
          id: randomUUID(),
          merchantId: intent.id,
          hash: hashToken(apiKey),
          prefix: apiKey.slice(0, 8),
          createdAt: now(),
        },
      });
      return tx.merchant.update({ where: { id: intent.id }, data: { status: MerchantStatus.active } });
    });
    this.log.info({ merchantId: intent.id }, 'merchant created');
    return { ...view(created), apiKey };
  }

  async list(): Promise<MerchantView[]> {
    const rows = await this.prisma.merchant.findMany({ orderBy: { createdAt: 'asc' }, take: 1000 });
    return rows.map(view);
  }

  private intend(wanted: NewMerchant): Promise<MerchantRow> {
    return this.prisma.merchant.create({
      data: {
        id: randomUUID(),
        name: wanted.name,
        merchantCategoryCode: wanted.merchantCategoryCode,
        ppcUserGroup: wanted.ppcUserGroup,
        isContractPresent: wanted.isContractPresent ?? false,
        status: MerchantStatus.creating,
        returnUrls: wanted.returnUrls ?? [],
        allowedOrigins: (wanted.allowedOrigins ?? []).map((url) => new URL(url).origin),
        createdAt: now(),
      },
    });
  }

  /** An intent of the same name that nobody works on any more; claiming it renews its date, so only one caller wins. */
  private async takeUp(wanted: NewMerchant): Promise<MerchantRow | undefined> {
    const { name, merchantCategoryCode, ppcUserGroup } = wanted;
    const found = await this.prisma.merchant.findFirst({
      where: { name, merchantCategoryCode, ppcUserGroup, status: MerchantStatus.creating },
      orderBy: { createdAt: 'asc' },
    });
    if (!found || !isCutOff(found, now())) return undefined;
    const { count } = await this.prisma.merchant.updateMany({
      where: { id: found.id, createdAt: found.createdAt, status: MerchantStatus.creating },
      data: { createdAt: now() },
    });
    return count === 1 ? found : undefined;
  }
}

function view(row: MerchantRow): MerchantView {
  return {
    id: row.id,
    name: row.name,
    status: row.status,
    ...(row.subApplicationId === null ? {} : { subApplicationId: row.subApplicationId }),
    createdAt: row.createdAt.toISOString(),
  };
}
