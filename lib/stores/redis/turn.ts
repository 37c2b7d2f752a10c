import type { Asked } from './script-calls.js';

/** What was asked in one turn of the event loop. */
interface Gathered {
  readonly releases: Asked[];
  readonly acquires: Asked[];
  /** Keys of `acquires`. */
  readonly acquiring: Set<string>;
}

/**
 * Gathers what is asked in one turn of the event loop, so that it travels together. Releases travel before acquires, except
 * that what is asked of one key keeps its order: a release after an acquire (its undoing) opens a second load.
 */
export class Turn {
  private loads: Gathered[] = [];

  constructor(
    private readonly sendReleases: (asked: readonly Asked[]) => void,
    private readonly sendAcquires: (asked: readonly Asked[]) => void,
  ) {}

  acquire(lease: string, asked: Asked): void {
    const load = this.load();
    load.acquires.push(asked);
    load.acquiring.add(lease);
  }

  release(lease: string, asked: Asked): void {
    let load = this.load();
    if (load.acquiring.has(lease)) this.loads.push((load = empty()));
    load.releases.push(asked);
  }

  private load(): Gathered {
    const last = this.loads[this.loads.length - 1];
    if (last) return last;
    // A tick comes after all promises that are settled in this turn, and before anything that waits for the outside.
    process.nextTick(() => this.flush());
    const first = empty();
    this.loads.push(first);
    return first;
  }

  private flush(): void {
    const loads = this.loads;
    this.loads = [];
    for (const { releases, acquires } of loads) {
      this.sendReleases(releases);
      this.sendAcquires(acquires);
    }
  }
}

const empty = (): Gathered => ({ releases: [], acquires: [], acquiring: new Set() });
