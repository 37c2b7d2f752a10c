import type { Clock, ClockTimer } from '../../time/clock.js';
import type { LeaveRequest } from '../lease-store.js';
import { jittered } from './jitter.js';
import { toStoreError } from './to-store-error.js';

/** What a request may have left at a node, or may yet leave. */
export interface Leftover extends LeaveRequest {
  /** After so long from now the node has forgotten it by itself. */
  readonly ttlMs: number;
  /** The request, where it is still under way: it may be carried out after it was taken back. */
  readonly pending?: Promise<unknown> | undefined;
}

interface Entry extends Leftover {
  readonly until: number;
  requestOver: boolean;
}

/** While the node answers so many are taken back at once; while it does not, one asks for all. */
const MOST_AT_ONCE = 100;
/** How often one is taken back whose request is still under way. */
const REPEAT_MS = 1000;
const LONGEST_PAUSE_MS = 2000;

/** Takes back, in the background and by its holderId, what is not wanted at one node: until the node has confirmed it after the request was over, or the ttl has passed. */
export class Leftovers {
  private readonly entries = new Set<Entry>();
  private timer: ClockTimer | undefined;
  private running = false;
  private failures = 0;
  private closed = false;

  /** `leave` settles within the node's time limit. */
  constructor(
    private readonly clock: Clock,
    private readonly leave: (request: LeaveRequest) => Promise<void>,
  ) {}

  /** How many may still be there. */
  get size(): number {
    return this.entries.size;
  }

  add(leftover: Leftover): void {
    if (this.closed) return;
    const entry = { ...leftover, until: this.clock.monotonic() + leftover.ttlMs, requestOver: leftover.pending === undefined };
    const over = (): void => {
      entry.requestOver = true;
      if (this.entries.has(entry)) this.pump();
    };
    this.entries.add(entry);
    leftover.pending?.then(over, (error: unknown) => {
      // It never left, and will not: there is nothing to be taken back.
      if (toStoreError(error).notSent) this.entries.delete(entry);
      else over();
    });
    if (this.failures === 0) this.pump();
  }

  close(): void {
    this.closed = true;
    this.timer?.cancel();
    this.entries.clear();
  }

  private pump(): void {
    if (this.running || this.closed) return;
    this.timer?.cancel();
    this.running = true;
    void this.round().then(() => {
      this.running = false;
      if (this.closed || this.entries.size === 0) return;
      this.timer = this.clock.setTimer(() => this.pump(), this.pauseMs());
    });
  }

  private pauseMs(): number {
    if (this.failures > 0) return jittered(Math.min(LONGEST_PAUSE_MS, 50 * 2 ** Math.min(this.failures, 10)));
    return [...this.entries].some((entry) => entry.requestOver) ? 0 : REPEAT_MS;
  }

  private async round(): Promise<void> {
    const now = this.clock.monotonic();
    for (const entry of this.entries) if (entry.until <= now) this.entries.delete(entry);
    const batch = [...this.entries].slice(0, this.failures > 0 ? 1 : MOST_AT_ONCE);
    const done = await Promise.all(batch.map((entry) => this.takeBack(entry)));
    if (batch.length > 0) this.failures = done.includes(false) ? this.failures + 1 : 0;
  }

  private async takeBack(entry: Entry): Promise<boolean> {
    const { key, holderId, holderTag, requestOver } = entry;
    try {
      await this.leave({ key, holderId, holderTag });
    } catch {
      return false;
    }
    this.entries.delete(entry);
    // Until the request itself is over it may still be carried out.
    if (!requestOver && !this.closed) this.entries.add(entry);
    return true;
  }
}
