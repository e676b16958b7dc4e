import { generateKeyPairSync } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Envelope, Institution, type Problem, problems } from '#libs/contract';
import { InstitutionError, institutions, sandboxInstitutions } from '#libs/connectors';
import { Metrics } from '#libs/server';
import { TestAggregator } from '../../../../test/support/aggregator.js';
import { expectProblem } from '../../../../test/support/expect-problem.js';
import { expectShape } from '../../../../test/support/expect-shape.js';
import type { IssuedKey } from '../applications/application-keys.service.js';
import { InstitutionsService, toProblem } from './institutions.service.js';

let aggregator: TestAggregator;
let root: IssuedKey;
let folder: string;

function credentials() {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
  const names = { clientId: 'c', organisationId: 'o', softwareStatementId: 's' };
  const signingKey = { ...privateKey.export({ format: 'jwk' }), alg: 'PS256', kid: 'k' };
  return { ...names, redirectUri: 'http://localhost/callback', signingKey, kid: 'k' };
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tpp-'));
  const file = join(folder, 'tpp.json');
  await writeFile(file, JSON.stringify({ 'meridian-sandbox': credentials(), 'unknown-bank': credentials() }));
  aggregator = await TestAggregator.start({ env: { SANDBOX_URL: 'http://127.0.0.1:1', TPP_CREDENTIALS_FILE: file } });
  root = await aggregator.application('Root');
});
afterAll(async () => {
  await aggregator.close();
  await rm(folder, { recursive: true });
});

describe('institutions', () => {
  it('are those at which we are registered, with the features of their connectors', async () => {
    const { status, body } = await aggregator.ask<Envelope<Institution[]>>('GET /institutions', { as: root });
    expect(status).toBe(200);
    expect(body.meta.count).toBe(1);
    const [institution] = body.data;
    expectShape(Institution, institution ?? {});
    expect(institution).toMatchObject({
      id: 'meridian-sandbox',
      environmentType: 'SANDBOX',
      countries: [{ countryCode2: 'GB' }],
    });
    const offered = Object.keys(aggregator.get(InstitutionsService).connector('meridian-sandbox').operations);
    expect(institution?.features).toEqual(expect.arrayContaining(offered));
    expect(Object.keys(institution ?? {})).not.toContain('baseUrl');
  });

  it('are those of the world besides those of the sandbox', async () => {
    const [bank] = sandboxInstitutions('https://bank.example');
    if (!bank) throw new Error('The sandbox has banks');
    institutions.push({ ...bank, id: 'unknown-bank', environmentType: 'LIVE' });
    const service = new InstitutionsService(aggregator.env, new Metrics());
    institutions.pop();
    expect(service.list().map(({ id, environmentType }) => `${id} ${environmentType}`)).toEqual([
      'meridian-sandbox SANDBOX',
      'unknown-bank LIVE',
    ]);
    await service.onApplicationShutdown();
  });

  it('are answered one by one without an envelope', async () => {
    const { body } = await aggregator.ask<Institution>('GET /institutions/meridian-sandbox', { as: root });
    expect(body.id).toBe('meridian-sandbox');
  });

  it.each(['tamar-sandbox', 'unknown-bank', 'none', '..%2f', 'constructor'])(
    'are 404 when they are not ours: %s',
    async (id) => {
      await expectProblem(
        aggregator.ask(`GET /institutions/${id}`, { as: root }),
        problems.notFound({ parameter: 'institutionId' }),
      );
    },
  );
});

describe('a failure at an institution', () => {
  const statusOf = (error: unknown): Pick<Problem, 'status' | 'source'> | undefined => toProblem(error);

  it('is 424 with the institution as its source and its own words', () => {
    const problem = toProblem(new InstitutionError('unavailable', 'Down', { httpStatus: 503 }));
    expect(problem).toMatchObject({
      status: 424,
      source: 'INSTITUTION',
      institutionError: { errorMessage: 'Down', httpStatusCode: 503 },
    });
  });

  it('is 403 when the consent is gone there, and 424 when our patience is', () => {
    expect(statusOf(new InstitutionError('consent-gone', 'Revoked'))).toMatchObject({ status: 403 });
    expect(statusOf(new DOMException('late', 'TimeoutError'))).toMatchObject({ status: 424, source: 'INSTITUTION' });
  });

  it('is none of the institution when it is our bug', () => {
    expect(statusOf(new TypeError('x'))).toBeUndefined();
  });
});
