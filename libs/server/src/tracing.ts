import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';

const storage = new AsyncLocalStorage<string>();

/** 32 lowercase hexadecimal characters, as the interface prints them. */
export function newTracingId(): string {
  return randomUUID().replaceAll('-', '');
}

/** The caller's tracing id in our form, or undefined when it is neither 32 hexadecimal characters nor a UUID. */
export function acceptTracingId(offered: unknown): string | undefined {
  if (typeof offered !== 'string' || offered.length > 36) return undefined;
  const plain = offered.replaceAll('-', '').toLowerCase();
  return /^[0-9a-f]{32}$/.test(plain) ? plain : undefined;
}

/** Runs `work` so that everything it starts, awaited or not, sees this tracing id. */
export function runWithTracing<T>(id: string, work: () => T): T {
  return storage.run(id, work);
}

/** The tracing id of the request or job under way; a fresh one when there is none. */
export function tracingId(): string {
  return storage.getStore() ?? newTracingId();
}

/** The tracing id of the request or job under way, if there is one. */
export function currentTracingId(): string | undefined {
  return storage.getStore();
}
