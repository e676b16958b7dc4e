import { describe, expect, it } from 'vitest';
import { createLogger, nestLogger } from './logger.js';
import { redactText } from './redact.js';
import { acceptTracingId, runWithTracing, tracingId } from './tracing.js';

function capture(level = 'debug') {
  const lines: string[] = [];
  const logger = createLogger('test', { write: (line) => void lines.push(line) }, level);
  return { logger, last: (): Record<string, unknown> => JSON.parse(lines.at(-1) ?? '{}'), lines };
}

describe('a log line', () => {
  it('is one line of JSON with name, level, time and the tracing id under way', async () => {
    const { logger, last, lines } = capture();
    await runWithTracing('0'.repeat(32), async () => {
      await Promise.resolve();
      logger.info({ bank: 'meridian' }, 'asked');
    });
    expect(lines[0]?.trim().split('\n')).toHaveLength(1);
    expect(last()).toMatchObject({
      name: 'test',
      level: 'info',
      bank: 'meridian',
      msg: 'asked',
      tracingId: '0'.repeat(32),
    });
    expect(last().time).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
  });

  it('conceals secret members however deep and however written', () => {
    const { logger, last } = capture();
    logger.info(
      {
        request: { headers: { authorization: 'Basic eDp5' } },
        consent_token: 'abc',
        items: [{ IBAN: 'x', id: 7 }],
        'psu-id': 'ada',
      },
      'x',
    );
    expect(last()).toMatchObject({
      request: { headers: '[redacted]' },
      consent_token: '[redacted]',
      items: [{ IBAN: '[redacted]', id: 7 }],
      'psu-id': '[redacted]',
    });
  });

  it('conceals what gives people and secrets away inside texts and errors', () => {
    const { logger, last } = capture();
    const cause = new Error('card 4929123412341234 refused');
    logger.error(
      { err: new Error('no account GB33BUKB20201555555555', { cause }) },
      'failed for GB33 BUKB 2020 1555 5555 55',
    );
    const text = JSON.stringify(last());
    expect(text).not.toMatch(/BUKB|4929/);
    expect(last().err).toMatchObject({ type: 'Error', cause: { type: 'Error' } });
    expect(text).toContain('logger.spec');
  });

  it('is left out below its level', () => {
    const { logger, lines } = capture('warn');
    logger.info('quiet');
    expect(lines).toHaveLength(0);
  });
});

describe('redactText', () => {
  it.each([
    ['Authorization: Bearer abc.def', 'Authorization: [redacted]'],
    ['got eyJhbGciOi.eyJzdWIi.c2ln here', 'got [redacted] here'],
    ['postgres://user:pass@host/db', 'postgres://[redacted]@host/db'],
    ['GET https://bank.example/a?code=1&state=2 failed', 'GET https://bank.example/a?[redacted] failed'],
    ['to DE89370400440532013000.', 'to [redacted].'],
    ['20201555555555 is an account', '[redacted] is an account'],
  ])('cleans %s', (text, cleaned) => {
    expect(redactText(text)).toBe(cleaned);
  });

  it.each([
    'consent 7f0c3c1e-7f65-4d2a-9b1e-0a1b2c3d4e5f moved',
    'tracing 0af7651916cd43dd8448eb211c80319c',
    'at 1763697600000 in 12.5 ms',
    'Does it work? Yes',
  ])('leaves %s alone', (text) => {
    expect(redactText(text)).toBe(text);
  });
});

describe('Nest’s own lines', () => {
  it('are written as ours, its start-up chatter as debug', () => {
    const { logger, last } = capture();
    const nest = nestLogger(logger);
    nest.log('Mapped {/x, GET} route', 'RouterExplorer');
    expect(last()).toMatchObject({ level: 'debug', context: 'RouterExplorer' });
    nest.log('Hello', 'Payments');
    expect(last()).toMatchObject({ level: 'info', context: 'Payments', msg: 'Hello' });
    nest.error(new Error('boom'), 'Payments');
    expect(last()).toMatchObject({ level: 'error', err: { message: 'boom' } });
  });
});

describe('a tracing id', () => {
  it('is taken over only in its two forms', () => {
    expect(acceptTracingId('0AF7651916CD43DD8448EB211C80319C')).toBe('0af7651916cd43dd8448eb211c80319c');
    expect(acceptTracingId('short')).toBeUndefined();
    expect(acceptTracingId(['0'.repeat(32)])).toBeUndefined();
    expect(tracingId()).toMatch(/^[0-9a-f]{32}$/);
  });
});
