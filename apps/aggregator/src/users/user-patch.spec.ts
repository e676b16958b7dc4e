import { describe, expect, it } from 'vitest';
import { Problem } from '#libs/contract';
import { readUserPatch, userTextFault } from './user-patch.js';

function faultsOf(body: unknown): (string | undefined)[] {
  try {
    readUserPatch(body);
  } catch (error) {
    if (error instanceof Problem) return error.issues.map(({ parameter }) => parameter);
    throw error;
  }
  return [];
}

describe('a patch of a user', () => {
  it('replaces where no op is given, as the interface shows it', () => {
    expect(readUserPatch([{ path: '/applicationUserId', value: 'a' }])).toEqual({ applicationUserId: 'a' });
  });

  it('takes add and replace, and texts for the flag', () => {
    const body = [
      { op: 'add', path: '/referenceId', value: 'r' },
      { op: 'replace', path: '/vopOptOut', value: 'true' },
    ];
    expect(readUserPatch(body)).toEqual({ referenceId: 'r', vopOptOut: true });
  });

  it('names every faulty operation at once', () => {
    const body = [
      { op: 'remove', path: '/referenceId', value: 'a' },
      { path: '/uuid', value: 'a' },
      { path: '/vopOptOut', value: 'yes' },
      { path: '/referenceId', value: 1 },
      'text',
    ];
    expect(faultsOf(body)).toEqual(['$[0].op', '$[1].path', '$[2].value', '$[3].value', '$[4]']);
  });

  it.each([undefined, null, {}, [], 'text', Array.from({ length: 101 }, () => ({ path: '/referenceId', value: 'a' }))])(
    'refuses a body that is not a list of operations (%#)',
    (body) => expect(faultsOf(body)).toEqual(['$']),
  );

  it('refuses texts that cannot be stored', () => {
    expect(userTextFault('a\u0000b')).toBe('must not have control characters');
    expect(userTextFault('a'.repeat(257))).toBe('must have at most 256 characters');
    expect(userTextFault('  ')).toBe('must be a text');
    expect(userTextFault('Zoë 😀')).toBeUndefined();
  });
});
