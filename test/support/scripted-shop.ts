import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { resetClock } from '#libs/server';
import type { Env } from '../../apps/aggregator/src/config.js';
import type { IssuedKey } from '../../apps/aggregator/src/applications/application-keys.service.js';
import { TestAggregator } from './aggregator.js';
import { applicationWithCallback } from './authorise.js';
import { scriptedConnector, scriptInstitution, type ScriptedConnector } from './scripted-connector.js';

/** What a suite about one application at one bank stands on. */
export interface ScriptedShop {
  /** One for the suite. */
  aggregator: TestAggregator;
  /** Where all is well, until the test says otherwise; a new one for each test. */
  bank: ScriptedConnector;
  /** The application, with a callback; a new one for each test. */
  shop: IssuedKey;
}

/** Call it first in a suite: its hooks fill what it answers, and put the clock back after each test. */
export function scriptedShop(env: Partial<Env> = {}): ScriptedShop {
  const world = {} as ScriptedShop;
  beforeAll(async () => {
    world.aggregator = await TestAggregator.start({ env });
  });
  afterAll(() => world.aggregator.close());
  beforeEach(async () => {
    world.bank = scriptedConnector();
    scriptInstitution(world.aggregator, world.bank);
    world.shop = await applicationWithCallback(world.aggregator);
  });
  afterEach(() => resetClock());
  return world;
}
