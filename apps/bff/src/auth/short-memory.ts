import { now } from '#libs/server';

/** What was looked up a moment ago, for as long as it may be out of date without harm; bounded, the oldest go first. */
export class ShortMemory<Value> {
  private readonly kept = new Map<string, { value: Value; until: number }>();

  constructor(
    private readonly keptMs: number,
    private readonly sizeMax = 10_000,
  ) {}

  get(key: string): Value | undefined {
    const found = this.kept.get(key);
    return found && found.until > now().getTime() ? found.value : undefined;
  }

  set(key: string, value: Value): void {
    const [oldest] = this.kept.keys();
    if (oldest !== undefined && this.kept.size >= this.sizeMax) this.kept.delete(oldest);
    this.kept.set(key, { value, until: now().getTime() + this.keptMs });
  }

  /** Forgets everything: what changed here is true at once in this process, and in others after the time. */
  clear(): void {
    this.kept.clear();
  }
}
