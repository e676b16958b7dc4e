import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Redis } from 'ioredis';
import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import { Env } from '../config.js';
import type { Admitted } from './caller.js';

const windowSeconds = 60;

interface Policy {
  name: 'api-key' | 'session';
  quota: number;
  limiter: RateLimiterMemory | RateLimiterRedis;
}

/** How a caller stands; `retryAfter` when there have been too many calls. */
export interface Standing {
  headers: Record<string, string>;
  retryAfter?: number;
}

/**
 * How often each API key and each customer's sessions may call, in windows of a minute. All processes count together where there is a
 * Redis; without one, or while it cannot be reached, each counts for itself. Told in the headers of
 * draft-ietf-httpapi-ratelimit-headers.
 */
@Injectable()
export class RateLimits implements OnApplicationShutdown {
  private readonly redis: Redis | undefined;
  private readonly apiKey: Policy;
  private readonly session: Policy;

  constructor(@Inject(Env) env: Env) {
    // A limit must not become an outage: a command that cannot be sent at once fails, and the memory counts instead.
    const options = { enableOfflineQueue: false, maxRetriesPerRequest: 1, lazyConnect: false };
    this.redis = env.REDIS_URL === undefined ? undefined : new Redis(env.REDIS_URL, options);
    this.redis?.on('error', () => {});
    this.apiKey = this.policy('api-key', env.RATE_LIMIT_API_KEY);
    this.session = this.policy('session', env.RATE_LIMIT_SESSION);
  }

  /** Counts one call and says how the caller stands; the headers go with every answer, also with a refusal. */
  async count(caller: Admitted): Promise<Standing> {
    const { name, quota, limiter } = caller.kind === 'session' ? this.session : this.apiKey;
    const outcome = await limiter.consume(whoIs(caller)).catch((refused: unknown) => {
      if (refused instanceof RateLimiterRes) return refused;
      throw refused;
    });
    const seconds = Math.max(1, Math.ceil(outcome.msBeforeNext / 1_000));
    const headers = {
      'ratelimit-policy': `"${name}";q=${quota};w=${windowSeconds}`,
      ratelimit: `"${name}";r=${Math.max(0, outcome.remainingPoints)};t=${seconds}`,
    };
    return { headers, ...(outcome.consumedPoints > quota ? { retryAfter: seconds } : {}) };
  }

  /** Whether all processes count together now. */
  get isShared(): boolean {
    return this.redis?.status === 'ready';
  }

  onApplicationShutdown(): void {
    this.redis?.disconnect();
  }

  private policy(name: Policy['name'], quota: number): Policy {
    const rules = { keyPrefix: `tributary-bff-${name}`, points: quota, duration: windowSeconds };
    const own = new RateLimiterMemory(rules);
    if (!this.redis) return { name, quota, limiter: own };
    const limiter = new RateLimiterRedis({
      ...rules,
      storeClient: this.redis,
      insuranceLimiter: own,
      inMemoryBlockOnConsumed: quota + 1,
    });
    return { name, quota, limiter };
  }
}

function whoIs(caller: Admitted): string {
  if (caller.kind === 'operator') return caller.kind;
  return caller.kind === 'merchant' ? caller.keyId : caller.customerId;
}
