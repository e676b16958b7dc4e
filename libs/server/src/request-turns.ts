/** Requests that are begun in one turn of the event loop, at most. */
const perTurn = 4;

/**
 * Begins requests a few in each turn of the event loop. A burst on many connections is read in one turn, and would hold up timers,
 * answers and health checks until the last of it had been worked on. Whoever comes alone is begun at once.
 */
export class RequestTurns {
  readonly #waiting: (() => void)[] = [];
  #begun = 0;

  begin(go: () => void): void {
    if (this.#begun === 0) setImmediate(() => this.#turn());
    if (this.#begun >= perTurn) {
      this.#waiting.push(go);
      return;
    }
    this.#begun += 1;
    go();
  }

  /** The next turn has come: those who waited are first. */
  #turn(): void {
    const next = this.#waiting.splice(0, perTurn);
    this.#begun = next.length;
    if (next.length > 0) setImmediate(() => this.#turn());
    for (const go of next) go();
  }
}
