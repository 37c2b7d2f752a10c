import { slices, type Asked } from './script-calls.js';

/**
 * Of many leases asked for in one turn so many go into one call: they all leave together, but Redis works on the next call while
 * the answers of the last are dealt with here.
 */
const IN_CALL = 32;

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
      for (const some of slices(releases, IN_CALL)) this.sendReleases(some);
      for (const some of slices(acquires, IN_CALL)) this.sendAcquires(some);
    }
  }
}

const empty = (): Gathered => ({ releases: [], acquires: [], acquiring: new Set() });
