import { asSystem } from '#libs/database';
import type { Consented } from '#libs/connectors';
import { now, resetClock, setClock } from '#libs/server';
import { TestAggregator } from '../../../../test/support/aggregator.js';
import { applicationWithCallback, grantedAccount } from '../../../../test/support/authorise.js';
import { scriptedConnector, scriptInstitution } from '../../../../test/support/scripted-connector.js';
import { BankCalls } from './bank-calls.service.js';
import { ConsentSecrets } from './consent-secrets.js';
import { findAnyConsent } from './consent.queries.js';

/** The renewal of a grant among processes that share its consent; two of them at once are in test/faults. */
describe('the renewal of a grant', () => {
  let aggregator: TestAggregator;
  let id: string;
  beforeAll(async () => {
    aggregator = await TestAggregator.start();
    scriptInstitution(aggregator, scriptedConnector());
  });
  beforeEach(async () => {
    ({ id } = await grantedAccount(aggregator, await applicationWithCallback(aggregator)));
  });
  afterEach(resetClock);
  afterAll(() => aggregator.close());

  const stored = async () => (await asSystem(() => findAnyConsent(aggregator.db.pool, id)))!;
  const write = (column: 'renewal_lease_until' | 'sealed_grant', value: unknown) =>
    asSystem(() => aggregator.db.pool.query(`UPDATE consents SET ${column} = $2 WHERE id = $1`, [id, value]));
  const open = async (): Promise<Required<Consented>> => {
    const { call } = aggregator.get(BankCalls).openGranted(await stored(), { psu: {} });
    if (!call.alone) throw new Error('The call knows no other process');
    return { ...call, alone: call.alone.bind(call) };
  };
  const grantOf = async () =>
    aggregator.get(ConsentSecrets).openGrant(id, (await stored()).sealedGrant ?? '', 'grant').state;

  it('starts from the grant as it is by then, and keeps what it comes to', async () => {
    const [late, early] = [await open(), await open()];
    const renewed = (token: string) => ({ institutionConsentId: 'aac-1', state: { refreshToken: token } });
    const seen: unknown[] = [];
    const renew = ({ alone, keep }: Required<Consented>, token: string) =>
      asSystem(() =>
        alone(async (grant) => {
          seen.push(grant.state);
          await keep(renewed(token));
          return renewed(token);
        }),
      );
    await renew(early, 'r-2');
    await renew(late, 'r-3');
    expect(seen).toEqual([{ refreshToken: 'r-1' }, { refreshToken: 'r-2' }]);
    expect(await grantOf()).toEqual({ refreshToken: 'r-3' });
  });

  it('is left to a process that has it in hand, until that must have died', async () => {
    const { alone } = await open();
    const began = now();
    await write('renewal_lease_until', new Date(began.getTime() + 60_000));
    let hasBegun = false;
    const renewal = asSystem(() =>
      alone(async (grant) => {
        hasBegun = true;
        return grant;
      }),
    );
    await stored();
    expect(hasBegun).toBe(false);
    setClock(() => new Date(began.getTime() + 60_001));
    await renewal;
    expect(hasBegun).toBe(true);
  });

  it('gives way to a new authorisation', async () => {
    const { alone, keep } = await open();
    const fresh = { institutionConsentId: 'aac-1', state: { refreshToken: 'r-of-another-authorisation' } };
    await asSystem(() =>
      alone(async (grant) => {
        await write('sealed_grant', aggregator.get(ConsentSecrets).sealGrant(id, fresh, 'grant'));
        await keep({ ...grant, state: { refreshToken: 'r-2' } });
        return grant;
      }),
    );
    expect(await grantOf()).toEqual(fresh.state);
  });

  it('is refused when the consent has no grant any more', async () => {
    const { alone } = await open();
    await write('sealed_grant', null);
    await expect(asSystem(() => alone(async (grant) => grant))).rejects.toMatchObject({ status: 403 });
  });
});
