/** A change of a zone's clocks. */
export interface ZoneChange {
  /** The instant, milliseconds since the epoch. */
  readonly at: number;
  /** What is added to UTC before it, and from it on. Milliseconds. */
  readonly before: number;
  readonly after: number;
}

interface Block {
  readonly offset: number;
  readonly changes: readonly ZoneChange[];
}

const DAY_MS = 86_400_000;
/** Every change in the zone database of the last decades is followed by weeks without one. */
const STEP_MS = 7 * DAY_MS;
const BLOCK_MS = 52 * STEP_MS;
/** More than any difference of local time to UTC, twice. */
const NEAR_MS = 2 * DAY_MS;

/** Offsets and changes of one zone: asked for once a year of time, then answered from memory. */
export class ZoneTable {
  private readonly blocks = new Map<number, Block>();

  /** @param probe the offset at an instant, in milliseconds: a pure function. */
  constructor(
    readonly name: string,
    private readonly probe: (at: number) => number,
  ) {}

  offsetAt(at: number): number {
    const { offset, changes } = this.block(Math.floor(at / BLOCK_MS));
    let result = offset;
    for (const change of changes) if (change.at <= at) result = change.after;
    return result;
  }

  /** The change that satisfies `test`, among those within two days of `near`. */
  changeNear(near: number, test: (change: ZoneChange) => boolean): ZoneChange | undefined {
    const from = Math.floor((near - NEAR_MS) / BLOCK_MS);
    const to = Math.floor((near + NEAR_MS) / BLOCK_MS);
    const found = this.block(from).changes.find(test);
    return found ?? (from === to ? undefined : this.block(to).changes.find(test));
  }

  /** The change whose gap (clocks forward) or overlap (clocks back) holds this local time. */
  changeAtLocal(local: number): ZoneChange | undefined {
    return this.changeNear(local, (c) => local >= c.at + Math.min(c.before, c.after) && local < c.at + Math.max(c.before, c.after));
  }

  /** The instant of a local time that exists once. */
  instantOf(local: number): number {
    const guess = local - this.offsetAt(local - NEAR_MS);
    return this.offsetAt(guess) === local - guess ? guess : local - this.offsetAt(local + NEAR_MS);
  }

  private block(index: number): Block {
    const known = this.blocks.get(index);
    if (known) return known;
    const start = index * BLOCK_MS;
    const changes: ZoneChange[] = [];
    let offset = this.probe(start - 1);
    for (let at = start - 1; at < start + BLOCK_MS - 1; at += STEP_MS) offset = this.collect(at, at + STEP_MS, offset, changes);
    const made = { offset: changes[0]?.before ?? offset, changes };
    this.blocks.set(index, made);
    return made;
  }

  /** Finds the changes later than `low` (where the offset is `before`) and not later than `high`; returns the offset there. */
  private collect(low: number, high: number, before: number, changes: ZoneChange[]): number {
    const last = this.probe(high);
    while (before !== last) {
      let same = low;
      let changed = high;
      while (changed - same > 1) {
        const middle = Math.floor((same + changed) / 2);
        if (this.probe(middle) === before) same = middle;
        else changed = middle;
      }
      const after = this.probe(changed);
      changes.push({ at: changed, before, after });
      low = changed;
      before = after;
    }
    return last;
  }
}
