import { LRUCache } from 'lru-cache';

/** How many keys a process remembers the highest token of. */
const MOST_KEYS = 10_000;

/**
 * The highest fencing token this process has seen for a key. Sent with every acquire, it keeps tokens increasing through a
 * store that has forgotten them and whose clock went back, as far as any process still knows.
 */
export class Floors {
  private readonly seen = new LRUCache<string, number>({ max: MOST_KEYS });

  saw(key: string, fencingToken: number): void {
    if (fencingToken >= (this.seen.peek(key) ?? 0)) this.seen.set(key, fencingToken);
  }

  of(key: string, minToken: number | undefined): number | undefined {
    const seen = this.seen.get(key);
    if (seen === undefined || minToken === undefined) return seen ?? minToken;
    return Math.max(seen, minToken);
  }
}
