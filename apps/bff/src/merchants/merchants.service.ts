import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { problems } from '#libs/contract';
import { BffPrisma, hashToken } from '#libs/database';
import { createLogger, now } from '#libs/server';
import { cutPage, readListCursor } from '../cursor.js';
import type { ListQuery } from '../list.dto.js';
import { newApiKey } from './api-keys.service.js';
import type { CreatedMerchant, MerchantList, MerchantView, NewMerchant } from './merchant.dto.js';
import { isCutOff, MerchantStatus } from './merchant-state.js';
import { type MerchantRow, RegistrationService } from './registration.service.js';

const list = ['merchants'];

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
   * first: a creation that a crash cut off is taken up by the next call with the same name. `workId` is the same when a call is
   * taken up under its key: nobody has seen that merchant's API key, so it is made anew in its place.
   */
  async create(wanted: NewMerchant, workId: string = randomUUID()): Promise<CreatedMerchant> {
    const own = await this.prisma.merchant.findUnique({ where: { id: workId } });
    const cutOff = own ?? (await this.takeUp(wanted));
    const intent = cutOff ?? (await this.intend(wanted, workId));
    await this.registration.register(intent, { resumed: cutOff !== undefined });
    const apiKey = newApiKey();
    const created = await this.prisma.$transaction(async (tx) => {
      const secret = { hash: hashToken(apiKey), prefix: apiKey.slice(0, 8) };
      await tx.apiKey.upsert({
        where: { id: workId, merchantId: intent.id },
        create: { id: workId, merchantId: intent.id, ...secret, createdAt: now() },
        update: secret,
      });
      return tx.merchant.update({ where: { id: intent.id }, data: { status: MerchantStatus.active } });
    });
    this.log.info({ merchantId: intent.id }, 'merchant created');
    return { ...view(created), apiKey };
  }

  /** A page, the oldest first. */
  async list({ limit = 100, cursor }: ListQuery): Promise<MerchantList> {
    const after = cursor === undefined ? undefined : readListCursor(cursor, list);
    const rows = await this.prisma.merchant.findMany({
      ...(after && {
        where: { OR: [{ createdAt: { gt: after.date } }, { createdAt: after.date, id: { gt: after.id } }] },
      }),
      orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
      take: limit + 1,
    });
    const { page, more } = cutPage(rows, limit, { list, placeOf: ({ createdAt: date, id }) => ({ date, id }) });
    return { data: page.map(view), ...more };
  }

  async get(id: string): Promise<MerchantView> {
    const row = await this.prisma.merchant.findUnique({ where: { id } });
    if (!row) throw problems.notFound({ message: 'The merchant is not known' });
    return view(row);
  }

  private intend(wanted: NewMerchant, id: string): Promise<MerchantRow> {
    return this.prisma.merchant.create({
      data: {
        id,
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
