import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { Logger } from './logger.js';

const finishWithinMs = 8_000;
const closeWithinMs = 10_000;
const loopbacks = new Set(['localhost', '127.0.0.1', '[::1]']);

/** The address to listen on for a public address: a program that is known by a loopback name is reached from this machine alone. */
export function listenHost(publicUrl: string): string {
  const { hostname } = new URL(publicUrl);
  return loopbacks.has(hostname) ? hostname.replace(/[[\]]/g, '') : '0.0.0.0';
}

/** Closes the program: requests under way may finish for eight seconds, then their connections are cut. */
export async function closeGracefully(app: NestFastifyApplication): Promise<void> {
  const { server } = app.getHttpAdapter().getInstance();
  const cut = setTimeout(() => server.closeAllConnections(), finishWithinMs);
  try {
    await app.close();
  } finally {
    clearTimeout(cut);
  }
}

/** Ends the process on SIGTERM or SIGINT, after ten seconds at the latest. */
export function closeOnSignals(app: NestFastifyApplication, logger: Logger): void {
  let isClosing = false;
  const end = (signal: NodeJS.Signals | 'disconnect') => {
    if (isClosing) return;
    isClosing = true;
    logger.info({ signal }, 'closing');
    setTimeout(() => {
      logger.error('closing took too long');
      process.exit(1);
    }, closeWithinMs).unref();
    closeGracefully(app).then(
      () => process.exit(0),
      (error: unknown) => {
        logger.error({ err: error }, 'closing failed');
        process.exit(1);
      },
    );
  };
  process.on('SIGTERM', end);
  process.on('SIGINT', end);
  if (process.connected) process.on('disconnect', () => end('disconnect'));
}
