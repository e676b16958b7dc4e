import { Inject, Injectable } from '@nestjs/common';
import type { Pool } from 'pg';
import { problems, type VrpConfiguration } from '#libs/contract';
import { POOL } from '#libs/database';
import { now } from '#libs/server';
import type { Tenant } from '../auth/tenant.js';
import { ApplicationsService } from './applications.service.js';

/** What an application allows variable recurring payments of its own; the root decides, a sub-application may read. */
@Injectable()
export class VrpConfigurationService {
  constructor(
    @Inject(POOL) private readonly pool: Pool,
    private readonly applications: ApplicationsService,
  ) {}

  /** Writes it in place of the one before it, if there is one. */
  async set(tenant: Tenant, applicationId: string, configuration: VrpConfiguration): Promise<void> {
    await this.applications.getForChange(tenant, applicationId);
    await this.pool.query(
      `INSERT INTO vrp_configurations (application_id, configuration, created_at, updated_at) VALUES ($1, $2, $3, $3)
       ON CONFLICT (application_id) DO UPDATE SET configuration = excluded.configuration, updated_at = excluded.updated_at`,
      [applicationId, JSON.stringify(configuration), now()],
    );
  }

  /** Writes it in place of the one before it; 404 when there is none. */
  async replace(tenant: Tenant, applicationId: string, configuration: VrpConfiguration): Promise<void> {
    await this.applications.getForChange(tenant, applicationId);
    const { rowCount } = await this.pool.query(
      'UPDATE vrp_configurations SET configuration = $2, updated_at = $3 WHERE application_id = $1',
      [applicationId, JSON.stringify(configuration), now()],
    );
    if (rowCount !== 1) throw absent();
  }

  /** What was written last; 404 when nothing was. */
  async get(tenant: Tenant, applicationId: string): Promise<VrpConfiguration> {
    await this.applications.get(tenant, applicationId);
    const { rows } = await this.pool.query<{ configuration: VrpConfiguration }>(
      'SELECT configuration FROM vrp_configurations WHERE application_id = $1',
      [applicationId],
    );
    const [row] = rows;
    if (row === undefined) throw absent();
    return row.configuration;
  }
}

function absent(): Error {
  return problems.notFound({ parameter: 'applicationId', message: 'The application has no VRP configuration' });
}
