/** One call of the public API, as it went. */
export interface ApiCall {
  id: number;
  method: string;
  /** With its query; it holds ids, never a secret. */
  path: string;
  /** Absent where no answer came. */
  status?: number;
  ms: number;
}

const keptCalls = 60;

/** The latest calls that the page has made, newest first. */
export class CallLog {
  private made: readonly ApiCall[] = [];
  private count = 0;
  private readonly readers = new Set<() => void>();

  get calls(): readonly ApiCall[] {
    return this.made;
  }

  /** Makes the call and remembers how it went. */
  async send(request: Request): Promise<Response> {
    const began = performance.now();
    const { pathname, search } = new URL(request.url);
    const told = { method: request.method, path: pathname + search };
    try {
      const answer = await fetch(request);
      this.add({ ...told, status: answer.status, ms: performance.now() - began });
      return answer;
    } catch (error) {
      this.add({ ...told, ms: performance.now() - began });
      throw error;
    }
  }

  /** Calls `reader` after each call, until the answer is called. */
  subscribe(reader: () => void): () => void {
    this.readers.add(reader);
    return () => this.readers.delete(reader);
  }

  private add(call: Omit<ApiCall, 'id'>): void {
    this.count += 1;
    this.made = [{ id: this.count, ...call }, ...this.made].slice(0, keptCalls);
    for (const reader of this.readers) reader();
  }
}
