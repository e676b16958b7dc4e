import { AsyncLocalStorage } from 'node:async_hooks';

/** The setting that the row level security policies read: application ids joined by commas, `*` for all, empty for none. */
export const scopeSetting = 'tributary.application_ids';

const scopes = new AsyncLocalStorage<string>();
const uuid = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;

/** What the code now running may see, as the setting's text. Nothing was said: nothing is seen. */
export function currentScope(): string {
  return scopes.getStore() ?? '';
}

/** Runs `work` with the scope written as the setting's text, as `currentScope()` gave it earlier. */
export function resumeScope<T>(scope: string, work: () => T): T {
  return scopes.run(scope, work);
}

/** The setting's text for these applications. Throws on anything that is not a UUID, so no caller can smuggle in a `*`. */
export function scopeOf(applicationIds: readonly string[]): string {
  for (const id of applicationIds) if (!uuid.test(id)) throw new Error('An application id must be a UUID.');
  return applicationIds.join(',');
}

/** Every query that `work` starts sees the tenant rows of these applications and no others. */
export function inScope<T>(applicationIds: readonly string[], work: () => T): T {
  return scopes.run(scopeOf(applicationIds), work);
}

/**
 * Every query that `work` starts sees the rows of all applications. For jobs, for the operator's commands, and for the
 * look-ups that find out who is asking. Wrap the one query, not the whole request.
 */
export function asSystem<T>(work: () => T): T {
  return scopes.run('*', work);
}
