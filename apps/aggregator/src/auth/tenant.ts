import { createParamDecorator, type ExecutionContext, SetMetadata } from '@nestjs/common';

/** What a request needs to know of an application. */
export interface TenantApplication {
  id: string;
  /** Absent on a root application. */
  rootApplicationId?: string;
  name: string;
  callbackUrls: string[];
  isContractPresent: boolean;
}

/** On whose behalf a request is made. */
export class Tenant {
  constructor(
    /** The effective application: the credentials' own, or the one that the `sub-application` header chose. */
    readonly application: TenantApplication,
    /** The root above it; the same application when it is a root itself. */
    readonly rootApplication: TenantApplication,
    /** Whose rows may be read: the effective application and, for a root without the header, its sub-applications. */
    readonly scopeIds: string[],
  ) {}

  /** Whether a root application acts for itself. */
  get isRoot(): boolean {
    return this.application.rootApplicationId === undefined;
  }
}

const tenants = new WeakMap<object, Tenant>();

/** Remembers the tenant of a request for as long as the request lives. */
export function rememberTenant(request: object, tenant: Tenant): void {
  tenants.set(request, tenant);
}

/** The tenant of a request, if the application guard has let it in. */
export function knownTenantOf(request: object): Tenant | undefined {
  return tenants.get(request);
}

/** The tenant of a request that the application guard let in. */
export function tenantOf(request: object): Tenant {
  const tenant = tenants.get(request);
  if (!tenant) throw new Error('The request has no tenant: its route is public or the application guard did not run');
  return tenant;
}

/** Injects the request's tenant into a controller's method. */
export const CurrentTenant = createParamDecorator((_data: undefined, context: ExecutionContext) =>
  tenantOf(context.switchToHttp().getRequest<object>()),
);

export const IS_PUBLIC = 'tributary:is-public';

/** Marks a route that browsers reach without credentials, such as the banks' callback. */
export const Public = () => SetMetadata(IS_PUBLIC, true);
