import { problems } from '#libs/contract';

/** What we read of a webhook's body when it comes in. */
export interface Notice {
  /** Lower case. */
  applicationId: string;
  type: string;
  /** When it happened, in epoch milliseconds, where the event tells it. */
  occurredAt: number | undefined;
}

/** Of a verified body; undefined when it names no application or no type. A body that is no JSON is the sender's fault: 400. */
export function readNotice(text: string): Notice | undefined {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    throw problems.badRequest({ parameter: '$', message: 'The body is not JSON' });
  }
  const applicationId = member(body, 'applicationId');
  const type = member(body, 'type');
  if (typeof applicationId !== 'string' || typeof type !== 'string') return undefined;
  if (!/^[\w.:-]{1,200}$/.test(type))
    throw problems.badRequest({ parameter: '$.type', message: 'type must be a name of up to 200 characters' });
  return { applicationId: applicationId.toLowerCase(), type, occurredAt: occurredAt(member(body, 'event')) };
}

/** A payment's event tells when its status changed; the interface gives no other event a time, and signs no header. */
function occurredAt(event: unknown): number | undefined {
  const text = member(member(event, 'statusDetails'), 'statusUpdateDate');
  const at = typeof text === 'string' ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? undefined : at;
}

function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}
