import { isUUID } from 'class-validator';
import { problems } from '#libs/contract';

/** A UUID out of a path or query, in lower case; anything else is refused by the member's name. */
export function readUuid(parameter: string, value: string): string {
  if (!isUUID(value)) throw problems.unexpectedValue({ parameter, message: `${parameter} must be a UUID` });
  return value.toLowerCase();
}
