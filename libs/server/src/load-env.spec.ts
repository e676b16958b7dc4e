import { describe, expect, it } from 'vitest';
import { Choice, Flag, Integer, Text, Url } from '#libs/contract';
import { loadEnv, variablesOf } from './load-env.js';

const Role = { api: 'api', worker: 'worker' } as const;

class Env {
  @Integer({ min: 0, max: 65_535 }) PORT: number = 3000;
  @Url() BASE_URL!: string;
  @Text({ minLength: 32 }) SEALING_KEYS!: string;
  @Choice(Role, 'Role') ROLE: string = 'api';
  @Flag({ optional: true }) VERBOSE?: boolean;
}

const good = { BASE_URL: 'http://localhost:3000', SEALING_KEYS: 'k'.repeat(40) };

class Exited extends Error {}

function refused(source: Record<string, string>): { printed: string; code: number } {
  const seen = { printed: '', code: 0 };
  const exits = {
    print: (text: string) => void (seen.printed += text),
    exit: (code: number): never => {
      seen.code = code;
      throw new Exited();
    },
  };
  expect(() => loadEnv(Env, source, exits)).toThrow(Exited);
  return seen;
}

describe('loadEnv', () => {
  it('reads numbers and booleans by their type and fills in defaults', () => {
    const env = loadEnv(Env, { ...good, PORT: '0', VERBOSE: 'true', PATH: '/bin' });
    expect(env).toEqual({ ...good, PORT: 0, VERBOSE: true, ROLE: 'api' });
    expect(env).toBeInstanceOf(Env);
  });

  it('counts an empty variable as absent', () => {
    expect(loadEnv(Env, { ...good, PORT: '', VERBOSE: ' ' })).toEqual({ ...good, PORT: 3000, ROLE: 'api' });
  });

  it('names every faulty variable at once, never a value, and exits with 1', () => {
    const { printed, code } = refused({ PORT: '99999', SEALING_KEYS: 'short-secret', ROLE: 'queen', VERBOSE: 'maybe' });
    expect(code).toBe(1);
    expect(printed).toBe(
      'Cannot start. Faulty variables:\n  PORT: not valid\n  BASE_URL: missing\n  SEALING_KEYS: not valid\n  ROLE: not valid\n  VERBOSE: not valid\n',
    );
  });

  it('refuses what is nearly a number', () => {
    expect(refused({ ...good, PORT: '3000x' }).printed).toContain('PORT: not valid');
    expect(refused({ ...good, PORT: '0x10' }).printed).toContain('PORT: not valid');
  });

  it('lists the variables of a class', () => {
    expect(variablesOf(Env)).toEqual(['PORT', 'BASE_URL', 'SEALING_KEYS', 'ROLE', 'VERBOSE']);
  });
});
