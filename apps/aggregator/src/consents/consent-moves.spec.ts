import { describe, expect, it, vi } from 'vitest';
import { AuthorisationStatus, problems, type Consent, type Envelope } from '#libs/contract';
import { InstitutionError, type Connector, type ConsentState } from '#libs/connectors';
import { asSystem, POOL } from '#libs/database';
import { now } from '#libs/server';
import { asOwner, comeBack, grantedAccount } from '../../../../test/support/authorise.js';
import { expectProblem } from '../../../../test/support/expect-problem.js';
import { scriptedInstitution, scriptInstitution } from '../../../../test/support/scripted-connector.js';
import { mayMove } from './consent-state.js';
import { moveConsent, type Queryable } from './consent.queries.js';
import { scriptedShop } from '../../../../test/support/scripted-shop.js';

const world = scriptedShop();

const shape = { shape: 'minimal' } as const;
const get = async (id: string) =>
  (await world.aggregator.ask<Envelope<Consent>>(`GET /consents/${id}`, { as: world.shop })).body.data;
const read = (token: string) => world.aggregator.ask('GET /accounts', { as: world.shop, headers: { consent: token } });

describe('the stored status of a consent', () => {
  it('takes every move of the table and no other', async () => {
    const { id } = await grantedAccount(world.aggregator, world.shop);
    const pool = world.aggregator.app.get<Queryable>(POOL, { strict: false });
    const all = Object.values(AuthorisationStatus);
    const wrong: string[] = [];
    for (const from of all) {
      for (const to of all) {
        await asSystem(() => pool.query('UPDATE consents SET status = $2 WHERE id = $1', [id, from]));
        const moved = await asSystem(() => moveConsent(pool, { id, to, at: now() }));
        if (moved !== mayMove(from, to)) wrong.push(`${from} -> ${to}`);
      }
    }
    expect(wrong).toEqual([]);
  });
});

describe('a consent that its bank has ended', () => {
  const withStatus = (status: ReturnType<typeof vi.fn<NonNullable<Connector['status']>>>) =>
    scriptInstitution(world.aggregator, { ...world.bank, status });
  const refused = new InstitutionError('unauthorised', 'Token refused', { httpStatus: 401 });
  const failed = problems.institutionFailed({ errorMessage: 'Token refused', httpStatusCode: 401 });

  it.each<[ConsentState, AuthorisationStatus]>([
    ['revoked', 'REVOKED'],
    ['expired', 'EXPIRED'],
    ['rejected', 'INVALID'],
    ['awaiting', 'INVALID'],
  ])('and calls %s is %s once a token of it is refused', async (state, expected) => {
    withStatus(vi.fn(async () => state));
    const { id, token } = await grantedAccount(world.aggregator, world.shop);
    world.bank.operations.ACCOUNTS.mockRejectedValueOnce(refused);
    await expectProblem(read(token), problems.consentNotAuthorised(), shape);
    const consent = await get(id);
    expect(consent.status).toBe(expected);
    expect(consent.isDeletedByInstitution).toBe(expected === 'REVOKED' ? true : undefined);
  });

  it('is told from one whose token was refused in passing', async () => {
    withStatus(vi.fn(async () => 'authorised' as const));
    const { id, token } = await grantedAccount(world.aggregator, world.shop);
    world.bank.operations.ACCOUNTS.mockRejectedValueOnce(refused);
    await expectProblem(read(token), failed, shape);
    expect((await get(id)).status).toBe('AUTHORIZED');
  });

  it('is not taken for ended when the bank cannot tell', async () => {
    const { id, token } = await grantedAccount(world.aggregator, world.shop);
    world.bank.operations.ACCOUNTS.mockRejectedValue(refused);
    await expectProblem(read(token), failed, shape);
    withStatus(vi.fn(async () => Promise.reject(new InstitutionError('unavailable', 'Down'))));
    await expectProblem(read(token), failed, shape);
    expect((await get(id)).status).toBe('AUTHORIZED');
    withStatus(vi.fn(async () => Promise.reject(new InstitutionError('consent-gone', 'Unknown'))));
    await expectProblem(read(token), problems.consentNotAuthorised(), shape);
    expect((await get(id)).status).toBe('REVOKED');
  });
});

describe('an answer of the bank', () => {
  async function begun(): Promise<{ id: string; state: string; expiresAt: string }> {
    const { body } = await world.aggregator.ask<Envelope<Consent>>('POST /account-auth-requests', {
      as: world.shop,
      body: { institutionId: scriptedInstitution.id, applicationUserId: 'ann' },
    });
    const { id, state = '', expiresAt = '' } = body.data;
    return { id, state, expiresAt };
  }

  it('that cannot be read leaves the consent UNKNOWN, for a day', async () => {
    const { id, state } = await begun();
    world.bank.proceed.mockRejectedValueOnce(new InstitutionError('malformed', 'No token in the answer'));
    expect((await comeBack(world.aggregator, { code: 'c-1', state })).page).toContain('That did not work');
    expect((await get(id)).status).toBe('UNKNOWN');
  });

  it('that comes before the bank has booked it is followed by polling', async () => {
    const { id, state } = await begun();
    const pending = { institutionConsentId: 'bg-1', state: {} };
    world.bank.proceed.mockResolvedValueOnce({ kind: 'decoupled', message: 'One moment', pending });
    expect((await comeBack(world.aggregator, { state })).page).toContain('One moment');
    world.bank.proceed.mockResolvedValueOnce({ kind: 'authorised', grant: pending });
    expect((await get(id)).status).toBe('AUTHORIZED');
  });

  it('that asks for another visit sends the browser there', async () => {
    const { id, state } = await begun();
    const pending = { institutionConsentId: 'bg-1', state: {} };
    world.bank.proceed.mockResolvedValueOnce({ kind: 'redirect', url: 'https://bank.test/second', pending });
    const { status, location } = await comeBack(world.aggregator, { code: 'c-1', state });
    expect([status, location?.href]).toEqual([303, 'https://bank.test/second']);
    expect((await comeBack(world.aggregator, { code: 'c-2', state })).page).toContain('Access granted');
    expect(world.bank.proceed.mock.calls[1]?.[1]).toEqual(pending);
    expect((await get(id)).status).toBe('AUTHORIZED');
  });

  it('never makes a consent longer than ninety days, whatever the bank allows', async () => {
    scriptInstitution(world.aggregator, world.bank, { maxConsentDays: 180 });
    const { expiresAt, id, state } = await begun();
    const inDays = (text: string | undefined) => (Date.parse(text ?? '') - now().getTime()) / 86_400_000;
    expect(inDays(expiresAt)).toBeCloseTo(90, 1);
    await comeBack(world.aggregator, { code: 'c-1', state });
    const consent = await get(id);
    expect(inDays(consent.reconfirmBy)).toBeCloseTo(90, 1);
    const [row] = await asOwner(
      world.aggregator,
      `SELECT sealed_url, sealed_pending FROM aggregator.consents WHERE id = '${id}'`,
    );
    expect(row).toEqual({ sealed_url: null, sealed_pending: null });
  });

  it('to a re-authorisation may come from several users, and their refusal ends nothing', async () => {
    const { id, token } = await grantedAccount(world.aggregator, world.shop);
    const renewed = await world.aggregator.ask<Envelope<Consent>>('PATCH /account-auth-requests', {
      as: world.shop,
      headers: { consent: token },
    });
    const pending = { institutionConsentId: 'bg-1', state: {} };
    world.bank.proceed.mockResolvedValueOnce({ kind: 'further-authorisation', pending });
    await comeBack(world.aggregator, { code: 'c-2', state: renewed.body.data.state ?? '' });
    world.bank.proceed.mockResolvedValueOnce({ kind: 'rejected', reason: 'Declined' });
    expect((await get(id)).status).toBe('AUTHORIZED');
    expect((await read(token)).status).toBe(200);
  });
});
