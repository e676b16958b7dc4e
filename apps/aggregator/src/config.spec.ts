import { describe, expect, it } from 'vitest';
import { loadEnv } from '#libs/server';
import { Env } from './config.js';

const sound = {
  DATABASE_URL: 'postgresql://postgres@localhost/tributary',
  SEALING_KEYS: `k1:${Buffer.alloc(32, 1).toString('base64')}`,
};

class Exit extends Error {}

function faultsOf(source: Record<string, string>): string {
  let printed = '';
  const exits = {
    print: (text: string) => void (printed += text),
    exit: (): never => {
      throw new Exit();
    },
  };
  try {
    loadEnv(Env, source, exits);
  } catch (error) {
    if (!(error instanceof Exit)) throw error;
  }
  return printed;
}

describe('the settings', () => {
  it('have defaults for everything but the database and the keys', () => {
    expect(faultsOf(sound)).toBe('');
    const env = loadEnv(Env, sound);
    expect(env).toMatchObject({ ROLE: 'all', AGGREGATOR_PORT: 3_000, SERVICE_NAME: 'yapily' });
    expect(env.webhookRetrySeconds).toEqual([60, 300, 1_800, 7_200, 21_600, 86_400]);
  });

  it('name every faulty variable at once and no value', () => {
    const printed = faultsOf({
      DATABASE_URL: 'mysql://secret-host',
      SEALING_KEYS: 'short',
      ROLE: 'boss',
      AGGREGATOR_PORT: '70000',
      WEBHOOK_RETRY_SECONDS: '1,two',
      REDIS_URL: 'http://secret-host',
      TPP_CREDENTIALS_FILE: '/nowhere/two.json',
    });
    for (const name of [
      'DATABASE_URL',
      'SEALING_KEYS',
      'ROLE',
      'AGGREGATOR_PORT',
      'WEBHOOK_RETRY_SECONDS',
      'REDIS_URL',
      'TPP_CREDENTIALS_FILE',
    ]) {
      expect(printed).toContain(name);
    }
    expect(printed).not.toMatch(/secret-host|short|boss|70000|two/);
  });

  it('refuse sandbox credentials in production', () => {
    const sandbox = { SANDBOX_APPLICATION_ID: 'a', SANDBOX_APPLICATION_SECRET: 's'.repeat(32) };
    expect(faultsOf({ ...sound, ...sandbox })).toBe('');
    expect(faultsOf({ ...sound, ...sandbox, NODE_ENV: 'production' })).toMatch(
      /SANDBOX_APPLICATION_ID[^]*SANDBOX_APPLICATION_SECRET/,
    );
    expect(loadEnv(Env, { ...sound, NODE_ENV: 'production' }).allowsPrivateCallbacks).toBe(false);
  });
});
