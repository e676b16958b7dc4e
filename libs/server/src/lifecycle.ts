import type { INestApplication } from '@nestjs/common';
import type { Logger } from './logger.js';

const closeWithinMs = 10_000;

/** Ends the program on SIGTERM or SIGINT: what is under way may finish for ten seconds, then it is cut. */
export function closeOnSignals(app: INestApplication, logger: Logger): void {
  let isClosing = false;
  const end = (signal: NodeJS.Signals) => {
    if (isClosing) return;
    isClosing = true;
    logger.info({ signal }, 'closing');
    setTimeout(() => {
      logger.error('closing took too long');
      process.exit(1);
    }, closeWithinMs).unref();
    app.close().then(
      () => process.exit(0),
      (error: unknown) => {
        logger.error({ err: error }, 'closing failed');
        process.exit(1);
      },
    );
  };
  process.on('SIGTERM', end);
  process.on('SIGINT', end);
}
