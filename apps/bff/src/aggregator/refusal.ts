import { ClientError } from '#libs/client';
import { header, type Issue, Problem, problems } from '#libs/contract';

/**
 * What a merchant is told when the aggregator refused or failed: its own fault only where the aggregator named one,
 * the institution's where the institution failed, ours otherwise. `members` translates the aggregator's parameters, and
 * whatever lies below them.
 */
export function refusalOf(error: unknown, members: Readonly<Record<string, string>> = {}): unknown {
  if (!(error instanceof ClientError)) return error;
  const message = 'The aggregator cannot be reached at the moment';
  if (error.timedOut || error.status === undefined || error.status >= 500 || error.status === 429) {
    return problems.unavailable({ message });
  }
  if (error.status === 424) {
    if (isUnsupported(error)) return problems.featureNotSupported();
    const retryAfterMs = error.retryAfter === undefined ? undefined : error.retryAfter * 1000;
    return problems.institutionFailed({ errorMessage: 'The institution could not fulfil the request', retryAfterMs });
  }
  if (error.status === 400 || error.status === 404) {
    const issues = error.issues.flatMap((issue) => toOurs(issue, members));
    if (issues.length > 0) return problems.unexpectedValues(issues);
  }
  // Refused credentials or an application that may not: nothing the merchant could mend.
  return new Problem({ status: 502, issues: [], message: 'The aggregator refused the call' });
}

/** Whether the institution does not offer what was asked for at all. */
export function isUnsupported({ status, issues }: ClientError): boolean {
  return status === 424 && issues.some(({ code }) => code === 'FEATURE_NOT_SUPPORTED');
}

/** The merchant's own headers that the aggregator gets as they are. */
const passedOn: ReadonlySet<string> = new Set([header.psuId, header.psuCorporateId, header.psuIpAddress]);

/** The issue in the merchant's words; nothing where it is about what the merchant has not sent. */
function toOurs({ parameter = '', message = '' }: Issue, members: Readonly<Record<string, string>>): Issue[] {
  const member = Object.keys(members).find((each) => parameter === each || isBelow(parameter, each));
  const ours = member === undefined ? undefined : `${members[member]}${parameter.slice(member.length)}`;
  const named = ours ?? (passedOn.has(parameter) ? parameter : undefined);
  if (named === undefined) return [];
  const issue = problems.unexpectedValue({ parameter: named, message: message.replace(parameter, named) }).issues;
  return [...issue];
}

function isBelow(parameter: string, member: string): boolean {
  return parameter.startsWith(`${member}.`) || parameter.startsWith(`${member}[`);
}
