import { StoreError } from '../lease-store.js';
import type { Expiring } from './expiring-map.js';

const DAY_MS = 86_400_000;

/** The last token of a key. */
export interface Fence extends Expiring {
  readonly token: number;
}

/** What a fence may be told and how long it is remembered. Times in milliseconds, tokens in microseconds since the epoch. */
export const fenceRules = {
  /** How long an idle key's last token is remembered when nothing else is said: 24 hours. */
  defaultRetentionMs: DAY_MS,

  /**
   * The next token of a key: above the previous one and the floor, and not behind the clock.
   * @throws StoreError `floor` when the floor would poison the key, `fatal` when there is no higher safe integer
   */
  next(key: string, previous: number, floor: number | undefined, now: number): number {
    if (floor !== undefined && floor > previous && !fenceRules.plausible(floor, now)) {
      throw new StoreError(
        'floor',
        `The token asked for on "${key}" (above ${String(floor)}) lies more than a day ahead of the store's clock: is it a fencing token of this store?`,
      );
    }
    const token = Math.max(previous + 1, Math.floor(now * 1000), (floor ?? 0) + 1);
    if (!Number.isSafeInteger(token))
      throw new StoreError('fatal', `The fence of "${key}" has no room for a higher token (${String(previous)}).`);
    return token;
  },

  /** A token that a clock may have made: at most a day ahead of ours. */
  plausible: (token: number, now: number): boolean => token <= (now + DAY_MS) * 1000,

  /** Long enough for any late renewal, and until the clock has passed the token for certain. */
  expiresAt(token: number, ttlMs: number, retentionMs: number, now: number): number {
    const ahead = Math.max(0, token / 1000 - now);
    return now + Math.max(2 * ttlMs, retentionMs + ahead);
  },
};
