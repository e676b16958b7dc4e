import { readFile } from 'node:fs/promises';
import openapi, { astToString, COMMENT_HEADER } from 'openapi-typescript';
import { describe, expect, it } from 'vitest';
import { describeModule } from '#libs/server';
import { AppModule, programModule } from '../../../apps/bff/src/app.module.js';
import { Env } from '../../../apps/bff/src/config.js';
import { describedAs } from '../../../apps/bff/src/openapi-description.js';
import { answerOf, createMerchantClient, MerchantApiError } from './index.js';

/** What the client sends, answered by `answer`. */
function recorded(answer: () => Response, more: { customerId?: string } = {}) {
  const sent: Request[] = [];
  const fetch = (request: Request): Promise<Response> => {
    sent.push(request);
    return Promise.resolve(answer());
  };
  const client = createMerchantClient({ baseUrl: 'https://bff.example', token: () => 'trb_key', fetch, ...more });
  return { client, sent };
}

describe('the merchants’ client', () => {
  it('is in step with the description; otherwise run npm run openapi:client', async () => {
    const document = await describeModule(programModule(new Env(), [AppModule]), describedAs);
    const written = await readFile('libs/merchant-client/src/generated/merchant-api.ts', 'utf8');
    expect(written).toBe(`${COMMENT_HEADER}${astToString(await openapi(JSON.stringify(document)))}`);
  });

  it('signs every call, names the customer and gives a write a key of its own', async () => {
    const { client, sent } = recorded(() => Response.json({ data: [] }), { customerId: 'c-1' });
    await client.GET('/v1/transactions', { params: { query: { limit: 5 } } });
    await client.POST('/v1/connections', { body: { institutionId: 'bank' } });
    await client.POST('/v1/connections', { body: { institutionId: 'bank' }, headers: { 'idempotency-key': 'mine' } });
    expect(sent.map(({ url }) => url)).toEqual([
      'https://bff.example/v1/transactions?limit=5',
      'https://bff.example/v1/connections',
      'https://bff.example/v1/connections',
    ]);
    for (const { headers } of sent) {
      expect(headers.get('authorization')).toBe('Bearer trb_key');
      expect(headers.get('customer-id')).toBe('c-1');
    }
    const keys = sent.map(({ headers }) => headers.get('idempotency-key'));
    expect(keys).toEqual([null, expect.stringMatching(/^[0-9a-f-]{36}$/), 'mine']);
  });

  it('throws the problem details of a refusal, and copes with an answer that has none', async () => {
    const problem = { type: 'about:blank', title: 'Not found', status: 404, detail: 'The account is not known' };
    const refused = recorded(() => Response.json(problem, { status: 404 })).client;
    await expect(answerOf(refused.GET('/v1/accounts'))).rejects.toMatchObject({ status: 404, problem });
    const broken = recorded(() => new Response('<p>Bad gateway</p>', { status: 502 })).client;
    const failure = await answerOf(broken.GET('/v1/accounts')).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(MerchantApiError);
    expect(failure).toMatchObject({ status: 502, problem: undefined });
  });
});
