import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { loadEnv, variablesOf } from '#libs/server';
import { Env as AggregatorEnv } from '../apps/aggregator/src/config.js';
import { Env as BffEnv } from '../apps/bff/src/config.js';
import { loadCredentials, writeTppFiles } from '../apps/stack/src/credentials.js';
import { Env as SandboxEnv, readCertificates, readEnv as readSandboxEnv } from '../apps/sandbox-bank/src/config.js';

interface Service {
  image?: string;
  command?: string[];
  restart?: string;
  environment?: Record<string, string>;
  healthcheck?: { test: string[] };
  depends_on?: Record<string, { condition: string }>;
  ports?: string[];
  volumes?: string[];
}

const text = readFileSync('docker-compose.yml', 'utf8');
const compose = parse(text, { merge: true }) as { services: Record<string, Service>; volumes: Record<string, null> };
const dockerfile = readFileSync('Dockerfile', 'utf8');

const EnvOf: Readonly<Record<string, new () => object>> = {
  aggregator: AggregatorEnv,
  'aggregator-worker': AggregatorEnv,
  bff: BffEnv,
  'bff-worker': BffEnv,
};

/** What the head of docker-compose.yml tells its reader to write into .env. */
const dotenv: Readonly<Record<string, string>> = {
  POSTGRES_PASSWORD: 'ab'.repeat(24),
  AGGREGATOR_SEALING_KEYS: `k1:${Buffer.alloc(32, 1).toString('base64')}`,
  BFF_SEALING_KEYS: `k1:${Buffer.alloc(32, 2).toString('base64')}`,
  APPLICATION_ID: '6e1f9c0e-5b0c-4c39-9d3f-1a2b3c4d5e6f',
  APPLICATION_SECRET: 'cd'.repeat(32),
  SESSION_KEY: 'ef'.repeat(32),
  OPERATOR_KEY: '01'.repeat(32),
};

/** Stands for the volume `sandbox`, in which the service `register` has left its files. */
let data = '';

beforeAll(async () => {
  data = await mkdtemp(join(tmpdir(), 'tributary-compose-'));
  await writeTppFiles(data, await loadCredentials(data), environmentOf('aggregator').AGGREGATOR_URL ?? '');
});
afterAll(() => rm(data, { recursive: true }));

/** The environment as compose hands it to the container: `${X:?}` from .env, `${X:-y}` by default. */
function environmentOf(name: string): Record<string, string> {
  const written = compose.services[name]?.environment ?? {};
  const entries = Object.entries(written).map(([key, value]) => {
    const filled = value.replaceAll(
      /\$\{(\w+)(:\?|:-)([^}]*)\}/g,
      (_all, variable: string, mark: string, usual: string) => (mark === ':-' ? usual : (dotenv[variable] ?? '')),
    );
    return [key, filled.replace(/^\/data(?=\/)/, data)] as const;
  });
  return Object.fromEntries(entries);
}

function stop(): never {
  throw new Error('faulty');
}

/** Names of the variables that a program cannot start without. */
function requiredBy(EnvClass: new () => object): string[] {
  let printed = '';
  try {
    loadEnv(EnvClass, {}, { print: (line) => void (printed += line), exit: stop });
  } catch {
    return [...printed.matchAll(/^ {2}(\w+): missing$/gm)].map(([, name]) => name ?? '');
  }
  return [];
}

describe('docker-compose.yml', () => {
  it.each(Object.keys(EnvOf))('gives %s only variables that it knows, and all that it needs', (name) => {
    const EnvClass = EnvOf[name] ?? AggregatorEnv;
    const given = Object.keys(environmentOf(name));
    const known = new Set([...variablesOf(EnvClass), 'LOG_LEVEL']);
    expect(given.filter((variable) => !known.has(variable))).toEqual([]);
    expect(requiredBy(EnvClass).filter((variable) => !given.includes(variable))).toEqual([]);
    expect(requiredBy(EnvClass)).toContain('SEALING_KEYS');
  });

  it.each(Object.keys(EnvOf))('gives %s values that it accepts', (name) => {
    const faults: string[] = [];
    const exit = (): never => {
      throw new Error(faults.join(''));
    };
    const env = loadEnv(EnvOf[name] ?? AggregatorEnv, environmentOf(name), {
      print: (line) => void faults.push(line),
      exit,
    });
    expect(env).toMatchObject({ ROLE: name.endsWith('worker') ? 'worker' : 'api' });
  });

  it('gives the sandbox bank what it knows and accepts', () => {
    const given = environmentOf('sandbox-bank');
    const known = new Set([...Object.keys(new SandboxEnv()), 'LOG_LEVEL']);
    expect(Object.keys(given).filter((variable) => !known.has(variable))).toEqual([]);
    expect(readSandboxEnv(given)).toMatchObject({
      SANDBOX_PORT: 3002,
      SANDBOX_URL: 'http://sandbox.localhost:3002',
      SANDBOX_TLS_PORT: 3003,
    });
  });

  it('has the two programs and their workers agree on addresses and credentials', () => {
    const [aggregator, bff, sandbox] = [
      environmentOf('aggregator'),
      environmentOf('bff'),
      environmentOf('sandbox-bank'),
    ];
    expect(bff.AGGREGATOR_URL).toBe(aggregator.AGGREGATOR_URL);
    expect(bff.AGGREGATOR_APPLICATION_ID).toBe(aggregator.SANDBOX_APPLICATION_ID);
    expect(bff.AGGREGATOR_APPLICATION_SECRET).toBe(aggregator.SANDBOX_APPLICATION_SECRET);
    expect(bff.SEALING_KEYS).not.toBe(aggregator.SEALING_KEYS);
    expect(sandbox.SANDBOX_URL).toBe(aggregator.SANDBOX_URL);
    expect(sandbox.SANDBOX_TLS_URL).toBe(aggregator.SANDBOX_TLS_URL);
    expect(compose.services.register?.command).toContain(aggregator.AGGREGATOR_URL);
  });

  it('has the sandbox bank show a certificate for its name, of the authority that the aggregator trusts', () => {
    const { SANDBOX_TLS_FILE = '', SANDBOX_TLS_URL = '' } = environmentOf('sandbox-bank');
    const { certificate, ca } = readCertificates(SANDBOX_TLS_FILE);
    const shown = new X509Certificate(certificate);
    expect(shown.checkHost(new URL(SANDBOX_TLS_URL).hostname)).toBe('sandbox.localhost');
    const { TPP_CREDENTIALS_FILE = '' } = environmentOf('aggregator');
    const ours = JSON.parse(readFileSync(TPP_CREDENTIALS_FILE, 'utf8')) as Record<
      string,
      { transport: { ca: string } }
    >;
    for (const { transport } of Object.values(ours)) expect(transport.ca).toBe(ca);
    expect(shown.verify(new X509Certificate(ca).publicKey)).toBe(true);
  });

  it('has no default secret', () => {
    const secret = /PASSWORD|SECRET|KEY|APPLICATION_ID/;
    const used = [...text.matchAll(/\$\{(\w+)(:\?|:-)?/g)].filter(([, variable = '']) => secret.test(variable));
    expect(used.length).toBeGreaterThan(5);
    expect(used.filter(([, , mark]) => mark !== ':?')).toEqual([]);
    for (const [name, { environment = {} }] of Object.entries(compose.services)) {
      const literal = Object.entries(environment).filter(
        ([key, value]) => /PASSWORD|SECRET|_KEYS?$/.test(key) && !value.includes('${'),
      );
      expect([name, literal]).toEqual([name, []]);
    }
    const needed = [...text.matchAll(/\$\{(\w+):\?/g)].map(([, variable]) => variable ?? '');
    expect([...new Set(needed)].toSorted()).toEqual(Object.keys(dotenv).toSorted());
    for (const variable of needed) expect(text).toContain(`#   ${variable}=`);
  });

  it('watches the health of whatever keeps running, and waits for it', () => {
    for (const [name, service] of Object.entries(compose.services)) {
      expect([name, service.healthcheck !== undefined]).toEqual([name, service.restart !== 'no']);
      for (const [other, { condition }] of Object.entries(service.depends_on ?? {})) {
        const isOnce = compose.services[other]?.restart === 'no';
        expect([name, other, condition]).toEqual([
          name,
          other,
          isOnce ? 'service_completed_successfully' : 'service_healthy',
        ]);
      }
    }
  });

  it('starts bundles that the image has, and publishes nothing beyond this machine', () => {
    const rolldown = readFileSync('apps/stack/rolldown.config.mjs', 'utf8');
    const bundles = [...JSON.stringify(compose.services).matchAll(/dist\/([\w-]+)\/([\w-]+)\.mjs/g)];
    expect(bundles.length).toBeGreaterThan(6);
    for (const [, , entry] of bundles) expect(rolldown).toContain(`'${entry}'`);
    const ports = Object.values(compose.services).flatMap((service) => service.ports ?? []);
    expect(ports.filter((port) => !port.startsWith('127.0.0.1:'))).toEqual([]);
  });
});

describe('the image', () => {
  it('has the Node that npm pins, and no root', () => {
    const { optionalDependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as {
      optionalDependencies: Record<string, string>;
    };
    const versions = [...dockerfile.matchAll(/^FROM node:([\d.]+)/gm)].map(([, version]) => version);
    expect(new Set(versions)).toEqual(new Set(Object.values(optionalDependencies)));
    expect(dockerfile).toMatch(/^USER node$/m);
  });
});
