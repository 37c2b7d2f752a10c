import type { Clock } from '../../time/clock.js';
import type { Busy, Granted } from '../lease-store.js';
import type { Round } from './round.js';

/** What is known here of one acquisition. */
export interface Page {
  /** How often the id was retired. */
  retired: number;
  ttlMs: number;
  /** By our monotonic clock: untouched until then nobody can hold anything by it. */
  until: number;
  /** The round that runs, or the one that got the lease. */
  round?: Round | undefined;
  /** How often it was left or released: a try from before is over. */
  ends: number;
  /** The token of the lease that it has. */
  won?: number | undefined;
  /** What `acquire` is about to give, while it runs; `endsAt` by our monotonic clock. */
  running?: Promise<{ readonly reply: Granted | Busy; readonly endsAt: number }> | undefined;
}

/** Pages that are looked at with each new one, so that old ones go. */
const SWEPT_AT_ONCE = 4;

/**
 * By which id the nodes know a holder. A try that came to nothing is taken back by its id, and such a request may be carried out
 * late, when the same holder has tried again and has the lease: so the id of each try that left something behind is retired, and
 * the next one has another. Also keeps what of an acquisition is still under way.
 */
export class HolderBook {
  private readonly pages = new Map<string, Page>();
  private cursor: Iterator<[string, Page]> | undefined;

  constructor(private readonly clock: Clock) {}

  /** How many are remembered. */
  get size(): number {
    return this.pages.size;
  }

  find(key: string, holderId: string): Page | undefined {
    return this.pages.get(nameOf(key, holderId));
  }

  /** Its page, a new one where there is none. */
  open(key: string, holderId: string, ttlMs: number): Page {
    const name = nameOf(key, holderId);
    const page = this.pages.get(name) ?? { retired: 0, ends: 0, ttlMs, until: 0 };
    this.touch(page, ttlMs);
    this.pages.set(name, page);
    this.sweep();
    return page;
  }

  /** It lives for so long at least. */
  touch(page: Page, ttlMs: number): void {
    page.ttlMs = Math.max(page.ttlMs, ttlMs);
    page.until = Math.max(page.until, this.clock.monotonic() + 2 * page.ttlMs);
  }

  /** By what id the nodes know the holder. */
  idOf(key: string, holderId: string): string {
    const retired = this.find(key, holderId)?.retired ?? 0;
    return retired === 0 ? holderId : `${holderId}.${String(retired)}`;
  }

  /** Forgets a page on which nothing stands that will be needed. */
  tidy(key: string, holderId: string): void {
    const page = this.find(key, holderId);
    if (page === undefined || page.retired > 0 || page.won !== undefined || page.running !== undefined) return;
    if (page.round?.isDirty !== true) this.pages.delete(nameOf(key, holderId));
  }

  private sweep(): void {
    const now = this.clock.monotonic();
    for (let i = 0; i < SWEPT_AT_ONCE; i++) {
      this.cursor ??= this.pages.entries();
      const step = this.cursor.next();
      if (step.done) {
        this.cursor = undefined;
        return;
      }
      const [name, page] = step.value;
      if (page.until <= now && page.running === undefined) this.pages.delete(name);
    }
  }
}

/** The length keeps two pairs apart whose texts run together. */
function nameOf(key: string, holderId: string): string {
  return `${String(holderId.length)} ${holderId}${key}`;
}
