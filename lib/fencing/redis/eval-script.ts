import { createHash } from 'node:crypto';
import type { RedisLike } from './fence-key.js';

/** Runs a script by its hash, and by its text the first time a server sees it. */
export async function evalScript(client: RedisLike, script: string, keys: readonly string[], args: readonly string[]): Promise<unknown> {
  const sha = createHash('sha1').update(script).digest('hex');
  try {
    return await client.evalsha(sha, keys.length, ...keys, ...args);
  } catch (error) {
    if (!String((error as { message?: unknown } | undefined)?.message).startsWith('NOSCRIPT')) throw error;
    return client.eval(script, keys.length, ...keys, ...args);
  }
}
