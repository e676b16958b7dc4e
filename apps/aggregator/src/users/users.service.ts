import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import {
  type ApplicationUser,
  DeleteStatusEnum,
  type Issue,
  type NewApplicationUser,
  problems,
  type UserDeleteResponse,
} from '#libs/contract';
import { AggregatorPrisma, isUniqueViolation, scopedTo } from '#libs/database';
import { now } from '#libs/server';
import type { Tenant } from '../auth/tenant.js';
import { ConsentsService } from '../consents/consents.service.js';
import { readUserPatch, userTextFault } from './user-patch.js';

const listMax = 50_000;
const deleteBatch = 100;
const deleteRoundsMax = listMax / deleteBatch;

interface UserRow {
  id: string;
  applicationId: string;
  applicationUserId: string | null;
  referenceId: string | null;
  vopOptOut: boolean;
  createdAt: Date;
}

/** How an authorisation names its user: one of the two, or both when they agree. */
export interface UserReference {
  userUuid?: string | undefined;
  applicationUserId?: string | undefined;
}

/** The users of an application. A root application also reaches the users of its sub-applications. */
@Injectable()
export class UsersService {
  constructor(
    private readonly prisma: AggregatorPrisma,
    private readonly consents: ConsentsService,
  ) {}

  /** Oldest first, at most 50,000; only those with one of the given references when there are any. */
  async list(tenant: Tenant, applicationUserIds?: string[]): Promise<ApplicationUser[]> {
    const rows = await this.scoped(tenant).user.findMany({
      where: {
        applicationId: { in: tenant.scopeIds },
        ...(applicationUserIds ? { applicationUserId: { in: applicationUserIds } } : {}),
      },
      orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
      take: listMax,
    });
    return this.present(tenant, rows);
  }

  async create(tenant: Tenant, body: NewApplicationUser): Promise<ApplicationUser> {
    refuseFaultyTexts(body);
    const row = await this.insert(tenant, body);
    return toUser(row, []);
  }

  async get(tenant: Tenant, id: string): Promise<ApplicationUser> {
    const [user] = await this.present(tenant, [await this.find(tenant, id)]);
    if (!user) throw problems.notFound({ parameter: 'userUuid' });
    return user;
  }

  async patch(tenant: Tenant, id: string, operations: unknown): Promise<ApplicationUser> {
    const changes = readUserPatch(operations);
    const { applicationId } = await this.find(tenant, id);
    const changed = await conflictIfTaken(() =>
      this.scoped(tenant).user.updateMany({ where: { id, applicationId }, data: changes }),
    );
    if (changed.count !== 1) throw problems.notFound({ parameter: 'userUuid' });
    return this.get(tenant, id);
  }

  /** Ends the user's consents, at the institutions too, and then forgets the user. */
  async delete(tenant: Tenant, id: string): Promise<UserDeleteResponse> {
    const user = await this.find(tenant, id);
    const userConsents = await this.consents.deleteForUser(tenant, id);
    await this.scoped(tenant).user.deleteMany({ where: { id, applicationId: user.applicationId } });
    return { id, deleteStatus: DeleteStatusEnum.SUCCESS, creationDate: user.createdAt.toISOString(), userConsents };
  }

  /** Ends the consents of every user of one application and forgets the users. */
  async deleteAll(tenant: Tenant, applicationId: string): Promise<void> {
    const users = this.scoped(tenant).user;
    for (let round = 0; round < deleteRoundsMax; round += 1) {
      const batch = await users.findMany({ where: { applicationId }, select: { id: true }, take: deleteBatch });
      if (batch.length === 0) return;
      for (const { id } of batch) await this.consents.deleteForUser(tenant, id);
      await users.deleteMany({ where: { applicationId, id: { in: batch.map(({ id }) => id) } } });
    }
  }

  /**
   * The user an authorisation is for. An unknown `applicationUserId` makes a new user; an unknown `userUuid` is a 404;
   * both together must name the same user. Only the effective application's own users are meant.
   */
  async resolve(tenant: Tenant, { userUuid, applicationUserId }: UserReference): Promise<UserRow> {
    if (userUuid !== undefined) {
      const user = await this.find(tenant, userUuid.toLowerCase(), [tenant.application.id]);
      if (applicationUserId !== undefined && applicationUserId !== user.applicationUserId) {
        throw problems.unexpectedValue({ parameter: '$.applicationUserId', message: 'is not that of userUuid' });
      }
      return user;
    }
    if (applicationUserId === undefined) {
      const message = 'either userUuid or applicationUserId is mandatory';
      throw problems.unexpectedValue({ parameter: '$.applicationUserId', message });
    }
    refuseFaultyTexts({ applicationUserId });
    return (await this.findByReference(tenant, applicationUserId)) ?? this.insertOrFind(tenant, applicationUserId);
  }

  /** Two calls may bring the same new reference at once: the unique index decides, and the loser takes the winner's row. */
  private async insertOrFind(tenant: Tenant, applicationUserId: string): Promise<UserRow> {
    await this.scoped(tenant).user.createMany({ data: [newUser(tenant, { applicationUserId })], skipDuplicates: true });
    const user = await this.findByReference(tenant, applicationUserId);
    if (!user) throw problems.conflict({ message: 'the user was deleted meanwhile' });
    return user;
  }

  private async findByReference(tenant: Tenant, applicationUserId: string): Promise<UserRow | null> {
    const applicationId = tenant.application.id;
    return this.scoped(tenant).user.findFirst({ where: { applicationId, applicationUserId } });
  }

  private async find(tenant: Tenant, id: string, applicationIds = tenant.scopeIds): Promise<UserRow> {
    const user = await this.scoped(tenant).user.findFirst({ where: { id, applicationId: { in: applicationIds } } });
    if (!user) throw problems.notFound({ parameter: 'userUuid', message: 'User not found' });
    return user;
  }

  private insert(tenant: Tenant, body: NewApplicationUser): Promise<UserRow> {
    return conflictIfTaken(() => this.scoped(tenant).user.create({ data: newUser(tenant, body) }));
  }

  private async present(tenant: Tenant, rows: UserRow[]): Promise<ApplicationUser[]> {
    const ids = rows.map(({ id }) => id);
    const institutions = await this.consents.institutionsOfUsers(tenant, ids);
    return rows.map((row) => toUser(row, institutions.get(row.id) ?? []));
  }

  private scoped(tenant: Tenant) {
    return scopedTo(this.prisma, tenant.scopeIds);
  }
}

function newUser(tenant: Tenant, { applicationUserId, referenceId, vopOptOut }: NewApplicationUser): UserRow {
  return {
    id: randomUUID(),
    applicationId: tenant.application.id,
    applicationUserId: applicationUserId ?? null,
    referenceId: referenceId ?? null,
    vopOptOut: vopOptOut ?? false,
    createdAt: now(),
  };
}

function toUser(row: UserRow, institutionIds: string[]): ApplicationUser {
  return {
    uuid: row.id,
    applicationUuid: row.applicationId,
    ...(row.applicationUserId === null ? {} : { applicationUserId: row.applicationUserId }),
    ...(row.referenceId === null ? {} : { referenceId: row.referenceId }),
    createdAt: row.createdAt.toISOString(),
    institutionConsents: institutionIds.map((institutionId) => ({ institutionId })),
    vopOptOut: row.vopOptOut,
  };
}

function refuseFaultyTexts(body: NewApplicationUser): void {
  const issues = (['applicationUserId', 'referenceId'] as const).flatMap((member): Issue[] => {
    const fault = body[member] === undefined ? undefined : userTextFault(body[member]);
    if (!fault) return [];
    const named = { parameter: `$.${member}`, message: `${member} ${fault}` };
    return [{ type: 'INVALID_REQUEST', code: 'INVALID_PROPERTY_UNEXPECTED_VALUE', ...named }];
  });
  if (issues.length > 0) throw problems.unexpectedValues(issues);
}

async function conflictIfTaken<T>(write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (!isUniqueViolation(error)) throw error;
    throw problems.conflict({ parameter: '$.applicationUserId', message: 'A user with this applicationUserId exists' });
  }
}
