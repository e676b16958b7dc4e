/** What the remote control says of a body that it cannot follow. */
export class Refusal extends Error {}

/** The members of a body, whatever they are. */
export type Body = Map<string, unknown>;

/** Whatever came: what is no object has no members. */
export function bodyOf(body: unknown): Body {
  return new Map<string, unknown>(typeof body === 'object' && body !== null ? Object.entries(body) : []);
}

/** A member that has to be a text. */
export function optionalText(body: Body, name: string): string | undefined {
  const value = body.get(name);
  if (value !== undefined && typeof value !== 'string') throw new Refusal(`${name} must be a text`);
  return value;
}

/** A member that has to be an ISO 8601 instant; in epoch milliseconds. */
export function optionalInstant(body: Body, name: string): number | undefined {
  const text = optionalText(body, name);
  const at = Date.parse(text ?? '');
  if (text !== undefined && Number.isNaN(at)) throw new Refusal(`${name} is no ISO 8601 instant`);
  return text === undefined ? undefined : at;
}

/** A member that has to be a whole number from 1 to `max`. */
export function optionalCount(body: Body, name: string, max: number): number | undefined {
  const value = body.get(name);
  if (value === undefined) return undefined;
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 1 || value > max)
    throw new Refusal(`${name} must be a whole number from 1 to ${max}`);
  return value;
}
