import { Command } from 'commander';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { BffPrisma } from '#libs/database';
import { type FreshDatabase, freshDatabase } from '../../../../test/support/postgres.js';
import { addRuleCommands } from './rule-commands.js';

describe('the rules of the console', () => {
  let db: FreshDatabase<BffPrisma>;
  beforeAll(async () => {
    db = await freshDatabase('bff');
  });
  afterAll(() => db.close());

  /** The rows that a command prints. */
  const run = async (...words: string[]): Promise<readonly unknown[]> => {
    const printed: unknown[] = [];
    const program = new Command().exitOverride().configureOutput({ writeErr: () => {} });
    addRuleCommands(program, { pool: db.pool, print: (_head, cells) => void printed.push(...cells) });
    vi.spyOn(console, 'log').mockImplementation(() => {});
    await program.parseAsync(['rules', ...words], { from: 'user' });
    vi.restoreAllMocks();
    return printed;
  };

  it('sets what an institution wants otherwise than the law says, and takes back what is not given again', async () => {
    await run('set', 'bank', '--sca-days', '90', '--reconfirmable', 'no', '--calls-per-day', '6');
    expect(await run('list')).toEqual([['bank', 6, 90, 'false']]);
    await run('set', 'bank', '--calls-per-day', '8');
    expect(await run('list')).toEqual([['bank', 8, '', '']]);
    await expect(run('set', 'bank', '--sca-days', 'many')).rejects.toThrow('whole number');
  });

  it('says which institution has become which', async () => {
    await run('succeed', 'bank', 'successor');
    await run('succeed', 'bank', 'later-successor');
    await run('succeed', 'small', 'successor');
    expect(await run('successions')).toEqual([
      ['bank', 'later-successor'],
      ['small', 'successor'],
    ]);
    await expect(run('succeed', 'bank', 'bank')).rejects.toThrow('itself');
    await run('unsucceed', 'bank');
    expect(await run('successions')).toEqual([['small', 'successor']]);
  });
});
