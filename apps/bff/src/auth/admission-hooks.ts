import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { AdmissionService } from './admission.service.js';

/** Every route that says for whom it is is guarded here, before its body is read. */
export function addAdmission(app: NestFastifyApplication): void {
  const admission = app.get(AdmissionService, { strict: false });
  const fastify = app.getHttpAdapter().getInstance();
  fastify.addHook('onRequest', async (request, reply) => {
    const { access } = request.routeOptions.config;
    if (access !== undefined) await admission.admit(access, request, reply);
  });
}
