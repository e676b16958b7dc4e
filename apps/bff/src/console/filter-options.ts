import { type Command, InvalidArgumentError } from 'commander';

/** Which rows a command is about. */
export interface FilterOptions {
  merchant?: string;
  type?: string;
  since?: Date;
  until?: Date;
}

/** The options that narrow a list or a replay. */
export function withFilter(command: Command): Command {
  return command
    .option('--merchant <id>', 'only of this merchant', uuid)
    .option('--type <type>', 'only of this type')
    .option('--since <date-time>', 'only from this instant on', instant)
    .option('--until <date-time>', 'only before this instant', instant);
}

/** An id in a command. */
export function uuid(text: string): string {
  if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)) return text.toLowerCase();
  throw new InvalidArgumentError('It must be a UUID.');
}

function instant(text: string): Date {
  const ms = Date.parse(text);
  if (Number.isNaN(ms)) throw new InvalidArgumentError('It must be a date-time such as 2026-01-31T12:00:00Z.');
  return new Date(ms);
}

/** A count in a command. */
export function count(text: string): number {
  if (/^[1-9]\d{0,4}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a whole number.');
}
