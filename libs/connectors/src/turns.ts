/**
 * Lets whoever waits go on one at a time, each in a turn of the event loop of its own. Banks' answers that arrive together
 * are parsed and mapped one after another anyway; this way requests, timers and health checks come in between.
 */
export class Turns {
  readonly #waiting: (() => void)[] = [];

  next(): Promise<void> {
    return new Promise((go) => {
      this.#waiting.push(go);
      if (this.#waiting.length === 1) setImmediate(() => this.#take());
    });
  }

  #take(): void {
    const go = this.#waiting.shift();
    if (this.#waiting.length > 0) setImmediate(() => this.#take());
    go?.();
  }
}
