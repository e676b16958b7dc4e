import type { Held } from './holding.js';

/** What a program that was started with `--inspect` holds after its garbage was collected, in megabytes. */
export interface Memory {
  rssMb: number;
  heapMb: number;
}

/** Milliseconds. */
export interface LoopDelay {
  /** By the clock: it also counts what other programs take of the machine's time. */
  delay: number;
  /** CPU time between two looks of a timer that looks every millisecond: what the program itself does at a stretch. */
  own: number;
}

/** Runs in the program under test. */
const watchLoop = `(() => {
  const { monitorEventLoopDelay, createHistogram } = process.getBuiltinModule('node:perf_hooks');
  const [delay, own] = [monitorEventLoopDelay({ resolution: 1 }), createHistogram()];
  let before = process.threadCpuUsage();
  setInterval(() => {
    const at = process.threadCpuUsage();
    own.record(Math.max(1, at.user + at.system - before.user - before.system));
    before = at;
  }, 1).unref();
  delay.enable();
  globalThis.loop = { delay, own };
})()`;
const readLoop = `({
  delay: Math.round(loop.delay.percentile(99) / 1e5) / 10,
  own: Math.round(loop.own.percentile(99) / 1e2) / 10,
})`;

interface Reply {
  id: number;
  result: { result?: { value?: unknown } };
}

const megabyte = 1024 * 1024;

/** Asks a running program about itself, over Node's inspector, so that nothing has to be built into the program. */
export class Inspected implements Held {
  private readonly waiting = new Map<number, (reply: Reply) => void>();
  private sent = 0;

  private constructor(private readonly socket: WebSocket) {
    socket.addEventListener('message', ({ data }) => {
      const reply = JSON.parse(String(data)) as Reply;
      this.waiting.get(reply.id)?.(reply);
      this.waiting.delete(reply.id);
    });
  }

  /** `url` is what the program printed: `ws://…`. */
  static async at(url: string): Promise<Inspected> {
    const socket = new WebSocket(url);
    await new Promise((open, fail) => {
      socket.addEventListener('open', open, { once: true });
      socket.addEventListener('error', () => fail(new Error('The inspector does not answer')), { once: true });
    });
    return new Inspected(socket);
  }

  stop(): Promise<void> {
    this.socket.close();
    return Promise.resolve();
  }

  async memory(): Promise<Memory> {
    // Twice: what the first collection finalises is freed by the second.
    await this.send('HeapProfiler.collectGarbage');
    await this.send('HeapProfiler.collectGarbage');
    const { rss, heapUsed } = (await this.evaluate('process.memoryUsage()')) as NodeJS.MemoryUsage;
    return { rssMb: Math.round(rss / megabyte), heapMb: Math.round((heapUsed / megabyte) * 10) / 10 };
  }

  /** Begins to measure how late the event loop is. */
  async watchLoop(): Promise<void> {
    await this.evaluate(watchLoop);
  }

  /** The 99th percentiles since `watchLoop`: of the event loop's delay, and of the program's own part in it. */
  async loopDelayP99(): Promise<LoopDelay> {
    return (await this.evaluate(readLoop)) as LoopDelay;
  }

  private async evaluate(expression: string): Promise<unknown> {
    const { result } = await this.send('Runtime.evaluate', { expression, returnByValue: true });
    return result.result?.value;
  }

  private send(method: string, params: object = {}): Promise<Reply> {
    const id = (this.sent += 1);
    return new Promise((done) => {
      this.waiting.set(id, done);
      this.socket.send(JSON.stringify({ id, method, params }));
    });
  }
}
