import { ClientError } from '#libs/client';
import { Problem, problems } from '#libs/contract';

/**
 * What a merchant is told when the aggregator refused or failed: its own fault only where the aggregator named one,
 * the institution's where the institution failed, ours otherwise. `members` translates the aggregator's parameters.
 */
export function refusalOf(error: unknown, members: Readonly<Record<string, string>> = {}): unknown {
  if (!(error instanceof ClientError)) return error;
  const message = 'The aggregator cannot be reached at the moment';
  if (error.timedOut || error.status === undefined || error.status >= 500 || error.status === 429) {
    return problems.unavailable({ message });
  }
  if (error.status === 424) {
    const retryAfterMs = error.retryAfter === undefined ? undefined : error.retryAfter * 1000;
    return problems.institutionFailed({ errorMessage: 'The institution could not fulfil the request', retryAfterMs });
  }
  const issue = error.issues[0];
  const parameter = issue?.parameter === undefined ? undefined : members[issue.parameter];
  if (error.status === 400 || error.status === 404) {
    if (parameter !== undefined) return problems.unexpectedValue({ parameter, message: issue?.message });
  }
  // Refused credentials or an application that may not: nothing the merchant could mend.
  return new Problem({ status: 502, issues: [], message: 'The aggregator refused the call' });
}
