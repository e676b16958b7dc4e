import { expect } from 'vitest';
import { type ErrorShape, Problem, problemBody } from '#libs/contract';
import { type Answer, readAnswer } from './serve-controller.js';

export interface ProblemExpectation {
  /** The shape that the route promises; `standard` unless said. */
  shape?: ErrorShape;
  /** The service's name in `source`. */
  source?: string;
  /** Compare the messages, too. */
  withMessage?: boolean;
}

/**
 * The only way to assert an error: `await expectProblem(served.ask(…), problems.notFound())`. `actual` is an answer of
 * `serveController`, a `Response`, or a promise of either, or of anything that is rejected with a Problem or a client error.
 */
export async function expectProblem(
  actual: unknown,
  expected: Problem,
  expectation: ProblemExpectation = {},
): Promise<void> {
  const outcome = await settle(actual);
  if (outcome instanceof Problem) {
    expect(summary(outcome, expectation)).toEqual(summary(expected, expectation));
    return;
  }
  if (isAnswer(outcome)) {
    expectAnswer(outcome, expected, expectation);
    return;
  }
  if (isClientError(outcome)) {
    expect(outcome.status).toBe(expected.status);
    expectBody(outcome.body, expected, expectation);
    return;
  }
  throw new Error(`Expected a problem (${expected.status} ${expected.statusText}), got ${describe(outcome)}`);
}

async function settle(actual: unknown): Promise<unknown> {
  try {
    const value: unknown = await actual;
    return value instanceof Response ? await readAnswer(value) : value;
  } catch (error) {
    return error;
  }
}

function describe(outcome: unknown): string {
  return outcome instanceof Error ? (outcome.stack ?? outcome.message) : JSON.stringify(outcome);
}

function isAnswer(value: unknown): value is Answer {
  return typeof value === 'object' && value !== null && 'headers' in value && value.headers instanceof Headers;
}

function isClientError(value: unknown): value is Error & { status: number; body: unknown } {
  return value instanceof Error && 'status' in value && 'body' in value;
}

function expectAnswer(answer: Answer, expected: Problem, expectation: ProblemExpectation): void {
  expect({ status: answer.status, body: answer.body }).toMatchObject({ status: expected.status });
  expect(answer.headers.get('content-type')).toBe('application/json;charset=UTF-8');
  for (const [name, value] of Object.entries(expected.headers)) expect(answer.headers.get(name)).toBe(value);
  const tracingId = member(member(answer.body, 'error'), 'tracingId');
  if (tracingId !== undefined) expect(tracingId).toBe(answer.headers.get('x-tracing-id'));
  expectBody(answer.body, expected, expectation);
}

function expectBody(body: unknown, expected: Problem, expectation: ProblemExpectation): void {
  const tracingId = member(member(body, 'error'), 'tracingId');
  if (tracingId !== undefined) expect(tracingId).toMatch(/^[0-9a-f]{32}$/);
  const surroundings = expectation.source === undefined ? {} : { source: expectation.source };
  const wanted = problemBody(
    expected,
    expectation.shape ?? 'standard',
    typeof tracingId === 'string' ? tracingId : '',
    surroundings,
  );
  expect(comparable(body, expectation)).toEqual(comparable(wanted, expectation));
}

/** Messages are for people and may say more than the catalogue: they count only when asked for. */
function comparable(body: unknown, { withMessage = false }: ProblemExpectation): unknown {
  if (withMessage) return body;
  if (Array.isArray(body)) return body.map((item) => comparable(item, {}));
  if (typeof body !== 'object' || body === null) return body;
  const members = Object.entries(body).filter(([name]) => name !== 'message');
  return Object.fromEntries(members.map(([name, value]) => [name, comparable(value, {})]));
}

function summary(problem: Problem, expectation: ProblemExpectation): unknown {
  const { status, source, issues, fields } = problem;
  const { message } = problem;
  return comparable({ status, source, issues, fields, message }, expectation);
}

function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}
