import { Pool, request } from 'undici';
import { timed, type Sample } from './harness.js';

/** One request, sent again and again. */
export interface Target {
  origin: string;
  path: string;
  headers?: Record<string, string>;
}

/** Sends `count` requests over `connections` connections, each as soon as the one before it is answered; every answer must be 200. */
export async function load({ origin, path, headers = {} }: Target, count: number, connections = 8): Promise<Sample> {
  const pool = new Pool(origin, { connections });
  let left = count;
  const one = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      const { statusCode, body } = await pool.request({ method: 'GET', path, headers });
      await body.dump();
      if (statusCode !== 200) throw new Error(`GET ${path} answered ${statusCode}`);
    }
  };
  const sample = await timed(async () => {
    await Promise.all(Array.from({ length: connections }, one));
    return count;
  });
  await pool.close();
  return sample;
}

/** One answer, as text. */
export async function answerOf({ origin, path, headers = {} }: Target): Promise<string> {
  const { statusCode, body } = await request(`${origin}${path}`, { headers });
  const text = await body.text();
  if (statusCode !== 200) throw new Error(`GET ${path} answered ${statusCode}: ${text}`);
  return text;
}
