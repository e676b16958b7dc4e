import { type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { AuthGuard } from '@nestjs/passport';
import { isUUID } from 'class-validator';
import type { FastifyRequest } from 'fastify';
import { header, problems } from '#libs/contract';
import { CredentialsService } from './credentials.service.js';
import { IS_PUBLIC, rememberTenant, Tenant, type TenantApplication } from './tenant.js';

/** Lets in whoever has an application's credentials, and works out on whose behalf the call is made. */
@Injectable()
export class ApplicationGuard extends AuthGuard('basic') {
  constructor(
    private readonly reflector: Reflector,
    private readonly credentials: CredentialsService,
  ) {
    super();
  }

  override async canActivate(context: ExecutionContext): Promise<boolean> {
    if (this.reflector.getAllAndOverride<boolean>(IS_PUBLIC, [context.getHandler(), context.getClass()])) return true;
    await super.canActivate(context);
    const request = context.switchToHttp().getRequest<FastifyRequest & { user: TenantApplication }>();
    rememberTenant(request, await this.tenantFor(request.user, request.headers[header.subApplication]));
    return true;
  }

  override handleRequest<T>(error: unknown, user: T | false, _info: unknown, context: ExecutionContext): T {
    if (error) throw error;
    if (user) return user;
    const { authorization } = context.switchToHttp().getRequest<FastifyRequest>().headers;
    throw authorization === undefined ? problems.credentialsMissing() : problems.credentialsInvalid();
  }

  /** A root may choose one of its own sub-applications; a sub-application may name nobody but itself. */
  private async tenantFor(caller: TenantApplication, chosen: string | string[] | undefined): Promise<Tenant> {
    const root = await this.rootOf(caller);
    if (chosen === undefined || chosen === '') {
      const scopeIds = caller === root ? await this.credentials.familyOf(root.id) : [caller.id];
      return new Tenant(caller, root, scopeIds);
    }
    if (typeof chosen !== 'string' || !isUUID(chosen)) {
      throw problems.unexpectedValue({ parameter: header.subApplication, message: 'sub-application must be a UUID' });
    }
    const id = chosen.toLowerCase();
    const application = id === caller.id ? caller : await this.credentials.find(id);
    const isOwn = application?.id === caller.id && caller !== root;
    const isChild = caller === root && application?.rootApplicationId === root.id;
    if (!application || !(isOwn || isChild)) {
      throw problems.forbidden({
        parameter: header.subApplication,
        message: 'sub-application does not belong to the credentials',
      });
    }
    return new Tenant(application, root, [application.id]);
  }

  private async rootOf(caller: TenantApplication): Promise<TenantApplication> {
    if (caller.rootApplicationId === undefined) return caller;
    const root = await this.credentials.find(caller.rootApplicationId);
    if (!root) throw problems.credentialsInvalid();
    return root;
  }
}
