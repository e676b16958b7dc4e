import type { LoggerService } from '@nestjs/common';
import { type DestinationStream, type Logger as PinoLogger, destination, levels, pino } from 'pino';
import { redact } from './redact.js';
import { currentTracingId } from './tracing.js';

export type Logger = PinoLogger;

/** `debug`, `info`, `warn`, … or `silent`; anything else counts as `info`. Read here, for a log exists before any config does. */
function levelOf(text: string | undefined): string {
  return text !== undefined && (text in levels.values || text === 'silent') ? text : 'info';
}

/**
 * A logger that writes one JSON line per entry to standard output, with the tracing id of the request or job under way.
 * Whatever it is given is redacted first; still, never hand it a body. `stream` and `level` are for tests.
 */
export function createLogger(
  name: string,
  stream: DestinationStream = standardOutput(),
  level = levelOf(process.env.LOG_LEVEL),
): Logger {
  const options = {
    name,
    level,
    base: { pid: process.pid },
    timestamp: pino.stdTimeFunctions.isoTime,
    serializers: { err: (error: unknown) => error },
    mixin: () => {
      const id = currentTracingId();
      return id === undefined ? {} : { tracingId: id };
    },
    formatters: { level: (label: string) => ({ level: label }) },
    hooks: { logMethod: redactEntry },
  };
  return pino(options, stream);
}

/** Unbuffered: the last lines before a crash are the ones that matter. */
function standardOutput(): DestinationStream {
  return destination({ fd: 1, sync: true });
}

function redactEntry(
  this: PinoLogger,
  entry: Parameters<PinoLogger['info']>,
  method: (...entry: unknown[]) => void,
): void {
  const [first, ...rest]: unknown[] = entry;
  const opening = first instanceof Error ? { err: redact(first) } : redact(first);
  const message = first instanceof Error && rest.length === 0 ? [first.name] : rest.map((item) => redact(item));
  method.apply(this, [opening, ...message]);
}

/** Nest's own word on starting up is of interest to nobody but a person who debugs it. */
const chatter = new Set([
  'NestFactory',
  'NestApplication',
  'InstanceLoader',
  'RoutesResolver',
  'RouterExplorer',
  'InjectorLogger',
]);

/** Makes Nest write through our logger: its start-up chatter as debug, everything else under its own level. */
export function nestLogger(logger: Logger): LoggerService {
  const write =
    (level: 'info' | 'warn' | 'error' | 'debug' | 'trace' | 'fatal') =>
    (message: unknown, ...more: unknown[]) => {
      const context = typeof more.at(-1) === 'string' ? String(more.at(-1)) : undefined;
      const said = level === 'info' && context !== undefined && chatter.has(context) ? 'debug' : level;
      const entry = message instanceof Error ? { context, err: message } : { context };
      logger[said](entry, message instanceof Error ? message.name : String(message));
    };
  return {
    log: write('info'),
    warn: write('warn'),
    error: write('error'),
    debug: write('debug'),
    verbose: write('trace'),
    fatal: write('fatal'),
  };
}
