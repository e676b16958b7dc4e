import { type Issue, problems } from '#libs/contract';

/** What a patch may change of a user. */
export interface UserChanges {
  applicationUserId?: string;
  referenceId?: string;
  vopOptOut?: boolean;
}

const operationsMax = 100;
const textMax = 256;

/**
 * Reads a JSON Patch (RFC 6902) of a user. The interface shows `path` and `value` only, so `op` may be absent and then
 * means `replace`; of the standard's operations `add` and `replace` are known. Every fault is named in one refusal.
 */
export function readUserPatch(body: unknown): UserChanges {
  if (!Array.isArray(body) || body.length === 0 || body.length > operationsMax) {
    throw problems.unexpectedValue({ parameter: '$', message: `must be a list of 1 to ${operationsMax} operations` });
  }
  const issues: Issue[] = [];
  const changes: UserChanges = {};
  body.forEach((operation: unknown, index) => {
    const fault = readOperation(operation, changes);
    if (!fault) return;
    const parameter = `$[${index}]${fault.member}`;
    issues.push({
      type: 'INVALID_REQUEST',
      code: 'INVALID_PROPERTY_UNEXPECTED_VALUE',
      parameter,
      message: fault.message,
    });
  });
  if (issues.length > 0) throw problems.unexpectedValues(issues);
  return changes;
}

interface Fault {
  member: string;
  message: string;
}

function readOperation(operation: unknown, changes: UserChanges): Fault | undefined {
  if (typeof operation !== 'object' || operation === null) return { member: '', message: 'must be an object' };
  const { op = 'replace', path, value }: { op?: unknown; path?: unknown; value?: unknown } = operation;
  if (op !== 'add' && op !== 'replace') return { member: '.op', message: 'op must be one of add, replace' };
  if (path === '/vopOptOut') {
    if (value !== 'true' && value !== 'false' && typeof value !== 'boolean') {
      return { member: '.value', message: 'value must be "true" or "false"' };
    }
    changes.vopOptOut = String(value) === 'true';
    return undefined;
  }
  if (path !== '/applicationUserId' && path !== '/referenceId') {
    return { member: '.path', message: 'path must be one of /applicationUserId, /referenceId, /vopOptOut' };
  }
  const fault = userTextFault(value);
  if (fault) return { member: '.value', message: `value ${fault}` };
  changes[path === '/referenceId' ? 'referenceId' : 'applicationUserId'] = String(value);
  return undefined;
}

/** Why a text cannot name a user, or undefined when it can. Control characters cannot be stored or shown. */
export function userTextFault(value: unknown): string | undefined {
  if (typeof value !== 'string' || value.trim() === '') return 'must be a text';
  if (value.length > textMax) return `must have at most ${textMax} characters`;
  // eslint-disable-next-line no-control-regex -- control characters are what is looked for
  return /[\u0000-\u001f\u007f]/.test(value) ? 'must not have control characters' : undefined;
}
