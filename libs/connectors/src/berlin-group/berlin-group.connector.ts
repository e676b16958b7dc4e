import type { Connector, Institution, Tools } from '../connector.js';
import { InstitutionError } from '../institution-error.js';

/** A bank that speaks Berlin Group NextGenPSD2 1.3.x. Nothing can be asked of it yet. */
export function connectBerlinGroup(institution: Institution<'berlin-group'>, _tools: Tools): Connector {
  const unreachable = new InstitutionError('unavailable', `${institution.name} cannot be reached yet`);
  return {
    operations: {},
    resendable: false,
    proceed: () => Promise.reject(unreachable),
    revoke: () => Promise.reject(unreachable),
  };
}
