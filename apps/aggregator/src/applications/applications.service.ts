import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import {
  type ApplicationPagination,
  type ApplicationRequest,
  type ApplicationResponse,
  problems,
} from '#libs/contract';
import { AggregatorPrisma, asSystem, scopedTo } from '#libs/database';
import { now } from '#libs/server';
import type { Tenant } from '../auth/tenant.js';
import { UsersService } from '../users/users.service.js';
import type { ApplicationSearch, ApplicationSort } from './application.dto.js';

interface ApplicationRow {
  id: string;
  rootApplicationId: string | null;
  name: string;
  merchantCategoryCode: number | null;
  ppcUserGroup: string | null;
  callbackUrls: string[];
  isContractPresent: boolean;
}

const columns: Record<string, 'updatedAt' | 'name' | 'id'> = { last_updated: 'updatedAt', name: 'name', uuid: 'id' };

/** The sub-applications of a root application. Only the root manages them; a sub-application may read itself. */
@Injectable()
export class ApplicationsService {
  constructor(
    private readonly prisma: AggregatorPrisma,
    private readonly users: UsersService,
  ) {}

  async create(tenant: Tenant, body: ApplicationRequest): Promise<ApplicationResponse> {
    refuseUnlessRoot(tenant);
    const at = now();
    const data = {
      ...columnsOf(body),
      id: randomUUID(),
      rootApplicationId: tenant.application.id,
      createdAt: at,
      updatedAt: at,
    };
    // No scope holds an application before it exists.
    return toApplication(await asSystem(async () => await this.prisma.application.create({ data })));
  }

  /** A page of the root's sub-applications; a sub-application sees an empty list (interface, part 4.5). */
  async search(
    tenant: Tenant,
    { applicationIds, offset = 0, limit = 1_000, sort = 'name' }: ApplicationSearch,
  ): Promise<{ items: ApplicationResponse[]; pagination: ApplicationPagination }> {
    const where = {
      rootApplicationId: tenant.application.id,
      ...(applicationIds ? { id: { in: applicationIds.map((id) => id.toLowerCase()) } } : {}),
    };
    const { application } = this.scoped(tenant);
    const [rows, totalCount] = await Promise.all([
      application.findMany({ where, orderBy: orderBy(sort), skip: offset, take: limit }),
      application.count({ where }),
    ]);
    return { items: rows.map(toApplication), pagination: { totalCount, self: { offset, limit, sort } } };
  }

  async get(tenant: Tenant, id: string): Promise<ApplicationResponse> {
    return toApplication(await this.reach(tenant, id));
  }

  /** The caller's own application, and since when it is as it is. */
  async own(
    tenant: Tenant,
  ): Promise<Pick<ApplicationRow, 'name' | 'callbackUrls'> & { createdAt: Date; updatedAt: Date }> {
    return this.scoped(tenant).application.findUniqueOrThrow({ where: { id: tenant.application.id } });
  }

  /** An application for whoever may change it: the root alone. */
  async getForChange(tenant: Tenant, id: string): Promise<ApplicationResponse> {
    const application = await this.get(tenant, id);
    refuseUnlessRoot(tenant);
    return application;
  }

  async update(tenant: Tenant, id: string, body: ApplicationRequest): Promise<ApplicationResponse> {
    refuseUnlessRoot(tenant);
    await this.reach(tenant, id);
    const data = { ...columnsOf(body), updatedAt: now() };
    const row = await this.scoped(tenant).application.update({ where: { id }, data });
    return toApplication(row);
  }

  /** Ends the consents of every user at the institutions first, because nobody could do it afterwards. */
  async delete(tenant: Tenant, id: string): Promise<void> {
    refuseUnlessRoot(tenant);
    const row = await this.reach(tenant, id);
    if (row.rootApplicationId === null) {
      throw problems.forbidden({ message: 'A root application cannot delete itself' });
    }
    await this.users.deleteAll(tenant, id);
    await this.scoped(tenant).application.deleteMany({ where: { id, rootApplicationId: tenant.application.id } });
  }

  /** The application itself or one of its own sub-applications: 404 when unknown, 403 when it is somebody else's. */
  private async reach(tenant: Tenant, id: string): Promise<ApplicationRow> {
    // Seen from above the scopes, because the interface tells an unknown application from a foreign one.
    const row = await asSystem(async () => await this.prisma.application.findUnique({ where: { id } }));
    if (!row) throw problems.notFound({ parameter: 'applicationId', message: 'Application not found' });
    if (row.id !== tenant.application.id && row.rootApplicationId !== tenant.application.id) {
      throw problems.forbidden({
        parameter: 'applicationId',
        message: 'The application does not belong to the credentials',
      });
    }
    return row;
  }

  private scoped(tenant: Tenant) {
    return scopedTo(this.prisma, tenant.scopeIds);
  }
}

function refuseUnlessRoot(tenant: Tenant): void {
  if (!tenant.isRoot) throw problems.forbidden({ message: 'Only a root application manages applications' });
}

function columnsOf({ name, merchantCategoryCode, ppcUserGroup, callbackUrls, isContractPresent }: ApplicationRequest) {
  return {
    name,
    merchantCategoryCode: Number(merchantCategoryCode),
    ppcUserGroup,
    callbackUrls: callbackUrls ?? [],
    isContractPresent,
  };
}

function orderBy(sort: ApplicationSort) {
  const isDescending = sort.startsWith('-');
  const direction = isDescending ? ('desc' as const) : ('asc' as const);
  const column = columns[isDescending ? sort.slice(1) : sort] ?? 'name';
  return [{ [column]: direction }, { id: direction }];
}

function toApplication(row: ApplicationRow): ApplicationResponse {
  return {
    id: row.id,
    ...(row.rootApplicationId === null ? {} : { rootApplicationId: row.rootApplicationId }),
    name: row.name,
    ...(row.merchantCategoryCode === null ? {} : { merchantCategoryCode: row.merchantCategoryCode }),
    ...(row.ppcUserGroup === null ? {} : { ppcUserGroup: row.ppcUserGroup }),
    callbackUrls: row.callbackUrls,
    isContractPresent: row.isContractPresent,
  };
}
