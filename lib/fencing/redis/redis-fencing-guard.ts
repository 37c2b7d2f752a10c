import { LeaseOptionsError } from '../../errors/lease-options.error.js';
import { parseDuration, type Duration } from '../../time/duration.js';
import { checkToken, refused, type FencedBy } from '../fenced-by.js';
import type { FencingGuard } from '../fencing-guard.js';
import { fenceKeyOf, hashTagOf, prefixOf, type RedisLike } from './fence-key.js';
import { evalScript } from './eval-script.js';
import { ACCEPT } from './scripts/accept.script.js';
import { DEL } from './scripts/del.script.js';
import { HSET } from './scripts/hset.script.js';
import { run } from './scripts/run.script.js';
import { SET } from './scripts/set.script.js';

/** How a Redis guard keeps its fences. */
export interface RedisFencingGuardOptions {
  /** How long the fence of a key that nobody writes any more is remembered; at least as long as a holder may be paused. Default `'7d'`. */
  readonly retention?: Duration | undefined;
  /** Ending of the fences' keys, which stand beside the data in its slot. Default `:fence`. */
  readonly suffix?: string | undefined;
}

/** Keys and arguments of a script of your own. */
export interface FencedScript {
  /** Keys it uses; the fence belongs to the first one, and in a Cluster all share its slot. */
  readonly keys: readonly string[];
  /** Its ARGV. */
  readonly args?: readonly (string | number)[] | undefined;
  /** Lua. It runs after the check, in the same script, and sees `KEYS` and `ARGV` as if it were alone. Keep the text constant and put values into `args`: Redis keeps every text it has seen. */
  readonly script: string;
}

/**
 * Writes to Redis that a newer holder's write rules out. One script each: check, fence and write are one step. Every key has
 * a fence beside it in its own slot, with a time to live. Errors of Redis itself reach you as they are.
 *
 * Every method throws `StaleFencingTokenError` when the key has accepted a newer holder (the lease counts as lost then), and
 * `LeaseOptionsError` for a token, key or ttl that cannot be used, and for a fence key that holds something else.
 */
export class RedisFencingGuard implements FencingGuard {
  private readonly retentionMs: number;
  private readonly suffix: string;

  /** @param client an ioredis client, 5 or 6; it stays yours to close */
  constructor(
    private readonly client: RedisLike,
    options: RedisFencingGuardOptions = {},
  ) {
    this.retentionMs = parseDuration('retention', options.retention ?? '7d', { minMs: 60_000 });
    this.suffix = options.suffix ?? ':fence';
  }

  /** `SET key value`, with `ttl` if one is given (an existing one is dropped otherwise, as by SET). */
  async set(lease: FencedBy, key: string, value: string | number, options: { readonly ttl?: Duration | undefined } = {}): Promise<void> {
    const ttl = options.ttl === undefined ? '' : String(parseDuration('ttl', options.ttl));
    await this.call(SET, lease, [key], [String(value), ttl]);
  }

  /** `HSET key field value ...`; gives the number of fields that are new. */
  async hset(lease: FencedBy, key: string, fields: Readonly<Record<string, string | number>>): Promise<number> {
    const pairs = Object.entries(fields).flatMap(([field, value]) => [field, String(value)]);
    if (pairs.length === 0) throw new LeaseOptionsError('fields', 'hset() was given no field to set.');
    return Number(await this.call(HSET, lease, [key], pairs));
  }

  /** `DEL key`; true when it was there. Its fence stays. */
  async del(lease: FencedBy, key: string): Promise<boolean> {
    return (await this.call(DEL, lease, [key], [])) === 1;
  }

  /** Runs a Lua script of yours if the lease is not stale, and gives what it returns. */
  run(lease: FencedBy, { keys, args = [], script }: FencedScript): Promise<unknown> {
    return this.call(run(script), lease, keys, args.map(String));
  }

  /** The check alone, for a resource elsewhere: a check at the door (see `FencingGuard`). */
  async accept(resource: string, token: number, holderTag: string): Promise<void> {
    await this.call(ACCEPT, { key: resource, fencingToken: token, holderTag }, [resource], []);
  }

  private async call(script: string, lease: FencedBy, keys: readonly string[], args: readonly string[]): Promise<unknown> {
    checkToken(lease.fencingToken, lease.holderTag);
    const key = keys[0] ?? '';
    const prefix = prefixOf(this.client);
    const fence = fenceKeyOf(key, prefix, this.suffix);
    if (this.client.isCluster) oneSlot(keys, prefix);
    const all = script === ACCEPT ? [fence] : [fence, ...keys];
    const common = [String(lease.fencingToken), lease.holderTag, String(this.retentionMs)];
    const [verdict, detail] = (await evalScript(this.client, script, all, [...common, ...args])) as [unknown, unknown];
    if (verdict === 'stale') throw refused(key, lease, { current: Number(detail) });
    if (verdict === 'foreign')
      throw new LeaseOptionsError(
        'key',
        `The Redis key "${prefix}${fence}" is not a fence of this library: choose another "suffix", or remove it.`,
      );
    return detail;
  }
}

/** In a Cluster Redis would refuse it too, but without a word on what to do. */
function oneSlot(keys: readonly string[], prefix: string): void {
  const tags = new Set(keys.map((key) => hashTagOf(prefix + key)));
  if (tags.size > 1)
    throw new LeaseOptionsError('keys', `The keys ${keys.join(', ')} are in several slots of the Cluster: give them one {hash tag}.`);
}
