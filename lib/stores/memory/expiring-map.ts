/** What is kept until a point in time. */
export interface Expiring {
  /** Milliseconds since the epoch; from then on it is gone. */
  readonly expiresAt: number;
}

/**
 * A map whose entries end by themselves. An entry that is over is never seen again; its memory is freed when it is asked for,
 * or when the sweep comes by. There is no timer: each write looks at a few other entries, so what is left of the past never
 * grows beyond what is alive and is cleared by use.
 */
export class ExpiringMap<T extends Expiring> {
  private readonly entries = new Map<string, T>();
  private cursor: Iterator<[string, T]> | undefined;

  constructor(private readonly sweepsPerWrite = 4) {}

  /** Entries in memory, those that are over but not yet swept included. */
  get size(): number {
    return this.entries.size;
  }

  get(key: string, now: number): T | undefined {
    const entry = this.entries.get(key);
    if (entry === undefined || entry.expiresAt > now) return entry;
    this.entries.delete(key);
    return undefined;
  }

  set(key: string, entry: T, now: number): void {
    this.entries.set(key, entry);
    this.sweep(now);
  }

  delete(key: string): boolean {
    return this.entries.delete(key);
  }

  /** Goes on where it stopped last: iterators of a Map are live, they see what was added and skip what was deleted. */
  private sweep(now: number): void {
    for (let i = 0; i < this.sweepsPerWrite; i++) {
      this.cursor ??= this.entries.entries();
      const step = this.cursor.next();
      if (step.done) {
        this.cursor = undefined;
        return;
      }
      const [key, entry] = step.value;
      if (entry.expiresAt <= now) this.entries.delete(key);
    }
  }
}
