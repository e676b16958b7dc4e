import { describe, expect, it } from 'vitest';
import { loadEnv } from '#libs/server';
import { Env } from './config.js';

const good = {
  BFF_PORT: '0',
  BFF_URL: 'https://bff.example',
  DATABASE_URL: 'postgres://user@localhost/db',
  SEALING_KEYS: 'k:AAAA',
  AGGREGATOR_URL: 'http://aggregator:3000',
  AGGREGATOR_APPLICATION_ID: '00000000-0000-4000-8000-000000000001',
  AGGREGATOR_APPLICATION_SECRET: 'secret-of-the-application',
  SESSION_KEY: 's'.repeat(64),
  OPERATOR_KEY: 'o'.repeat(64),
};

function faultsOf(source: Record<string, string | undefined>): string {
  let printed = '';
  const exits = {
    print: (text: string) => void (printed += text),
    exit: (code: number): never => {
      throw new Error(`exit ${code}`);
    },
  };
  expect(() => loadEnv(Env, source, exits)).toThrow('exit 1');
  return printed;
}

describe('the BFF’s variables', () => {
  it('are read with their defaults', () => {
    expect(loadEnv(Env, good)).toMatchObject({
      BFF_PORT: 0,
      ROLE: 'all',
      NODE_ENV: 'development',
      DATABASE_POOL_SIZE: 10,
    });
  });

  it('are all named at once when they are faulty, and none is shown', () => {
    const printed = faultsOf({
      ...good,
      BFF_PORT: '70000',
      SESSION_KEY: 'too-short',
      OPERATOR_KEY: undefined,
      AGGREGATOR_URL: 'nowhere',
    });
    for (const name of ['BFF_PORT', 'SESSION_KEY', 'OPERATOR_KEY', 'AGGREGATOR_URL']) expect(printed).toContain(name);
    for (const value of ['70000', 'too-short', 'nowhere']) expect(printed).not.toContain(value);
  });

  it('want an https address in production', () => {
    expect(faultsOf({ ...good, NODE_ENV: 'production', BFF_URL: 'http://bff.example' })).toContain('BFF_URL');
    expect(loadEnv(Env, { ...good, NODE_ENV: 'production' }).BFF_URL).toBe('https://bff.example');
  });
});
