import { LeaseOptionsError } from '../../errors/lease-options.error.js';

/** What is looked at of an ioredis client (5 or 6; single, Sentinel or Cluster). */
export interface RedisLike {
  eval(script: string, numKeys: number, ...args: string[]): Promise<unknown>;
  evalsha(sha: string, numKeys: number, ...args: string[]): Promise<unknown>;
  readonly isCluster?: boolean;
  readonly options?: {
    readonly keyPrefix?: string | undefined;
    readonly redisOptions?: { readonly keyPrefix?: string | undefined } | undefined;
  };
}

/** The client's `keyPrefix`, which it puts before every key of a script. */
export function prefixOf(client: RedisLike): string {
  return client.options?.keyPrefix ?? client.options?.redisOptions?.keyPrefix ?? '';
}

/** The part of a key that decides its slot: what stands in its first non-empty braces, else all of it. */
export function hashTagOf(key: string): string {
  const open = key.indexOf('{');
  const close = open < 0 ? -1 : key.indexOf('}', open + 1);
  return close > open + 1 ? key.slice(open + 1, close) : key;
}

/**
 * The fence's key for a data key: in the same slot, whatever the key looks like and whatever prefix the client adds.
 * @throws LeaseOptionsError for the few keys that no other key can share a slot with by its name
 */
export function fenceKeyOf(key: string, prefix: string, suffix: string): string {
  const full = prefix + key;
  const tag = hashTagOf(full);
  const candidate = tag === full ? `{${full}}${suffix}` : key + suffix;
  if (key !== '' && hashTagOf(prefix + candidate) === tag) return candidate;
  throw new LeaseOptionsError(
    'key',
    `No fence can be kept beside the Redis key ${JSON.stringify(full)}: it is empty, or its braces leave no room for a hash tag. Put a {tag} into it.`,
  );
}
