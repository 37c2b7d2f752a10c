import type { CronFields } from './cron-fields.js';
import { describeFields } from './describe-fields.js';
import { measureGaps, type Gaps } from './gaps.js';
import type { InstantSchedule } from './instant-schedule.js';
import { LocalTimes } from './local-times.js';
import type { ZoneChange, ZoneTable } from './zone-table.js';

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;
/** The nine years from here hold the eight without a leap day around 2100. */
const REFERENCE_MS = Date.UTC(2096, 0, 1);
/** The largest step a clock has been put back by in living memory (Antarctica/Casey). */
const LARGEST_STEP_MS = 3 * 3_600_000;

/**
 * The instants of a cron expression in a zone. Where the clocks change:
 *
 * - **Put back** (a local time occurs twice). An expression that is *hourly or finer* runs through both passes, since it
 *   states a rhythm, and an hour of silence would break it. Any other states times of the day, and runs at the first pass
 *   only, since twice would do the day's work twice. Hourly or finer is: the hour field allows all 24 hours (`30 * * * *`,
 *   `0 0-23/1 * * *`), or the minute field says "every" (`*`, a step, all sixty: `0-59/10 1-3 * * *`). Times of the day are
 *   `30 2 * * *`, `15,45 1,2 * * *`, `0 1-3 * * *` and also `0 0-23/2 * * *`, whose rhythm is coarser than the change.
 * - **Put forward** (a local time is skipped). What falls into the gap runs once, at the first instant after it. A rhythm
 *   needs that only where it would lose a run: 02:30 of `30 * * * *` is due one hour after 01:30, and that is 03:30, which
 *   runs anyway; but 02:00 of `0 * * * *` on Lord Howe Island, where the clock goes from 02:00 to 02:30, runs at 02:30.
 *
 * So each instant is a function of the expression and the zone alone. Replicas must know the same zone rules: they come
 * with Node (`process.versions.tz`).
 */
export class WallClockSchedule implements InstantSchedule {
  readonly description: string;
  private readonly times: LocalTimes;
  /** Hourly or finer: runs through both passes of a repeated hour. */
  private readonly rhythm: boolean;
  private reference: Gaps | undefined;

  constructor(
    private readonly fields: CronFields,
    private readonly zone: ZoneTable,
  ) {
    this.times = new LocalTimes(fields);
    const wholeDay = fields.hour.size === 24;
    this.rhythm = wholeDay || fields.everyMinute;
    // "*/30 2" and "0,30 2" name the same times and differ on one day a year: replicas must see that.
    const both = this.rhythm && !wholeDay ? ' (both passes of a repeated hour)' : '';
    this.description = `${describeFields(fields)} ${zone.name}${both}`;
  }

  get shortestGapMs(): number {
    return this.referenceGaps().shortest;
  }

  nextAfter(ms: number): number | undefined {
    const after = Math.floor(ms);
    const first = this.firstPassAfter(after);
    const second = this.rhythm ? this.secondPassAfter(after) : undefined;
    return first === undefined || second === undefined ? (first ?? second) : Math.min(first, second);
  }

  newestNotAfter(nowMs: number): number | undefined {
    const now = Math.floor(nowMs);
    const overlap = this.overlapAt(now);
    const local = now + this.zone.offsetAt(now);
    if (overlap && this.rhythm) {
      const second = this.times.previous(local);
      if (second !== undefined && second >= overlap.at + overlap.after) return second - overlap.after;
    }
    // In the second pass all of the first has gone by, also what the clock is about to show again.
    return this.newestUpTo(overlap ? overlap.at + overlap.before - 1 : local, now);
  }

  longestGapMs(fromMs?: number): number {
    const { longest } = fromMs === undefined ? this.referenceGaps() : measureGaps(this.fields, this.times, Math.floor(fromMs / DAY_MS));
    // A gap grows by the step at most, and that of a rhythm not beyond its double.
    return longest + Math.min(LARGEST_STEP_MS, longest);
  }

  private referenceGaps(): Gaps {
    return (this.reference ??= measureGaps(this.fields, this.times, REFERENCE_MS / DAY_MS));
  }

  /** First passes only: in the order of local time, which is that of time too. */
  private firstPassAfter(after: number): number | undefined {
    const overlap = this.overlapAt(after);
    let local = this.times.next(overlap ? overlap.at + overlap.before : after + this.zone.offsetAt(after) + 1);
    while (local !== undefined) {
      const change = this.zone.changeAtLocal(local);
      if (!change) return this.zone.instantOf(local);
      if (isOverlap(change)) return local - change.before;
      if (this.isMadeUp(change)) return change.at;
      local = this.times.next(change.at + change.after);
    }
    return undefined;
  }

  private secondPassAfter(after: number): number | undefined {
    const overlap = this.zone.changeNear(after, (c) => after >= c.at - (c.before - c.after) && after < c.at + (c.before - c.after));
    if (!overlap) return undefined;
    const local = this.times.next(Math.max(after + 1, overlap.at) + overlap.after);
    return local !== undefined && local < overlap.at + overlap.before ? local - overlap.after : undefined;
  }

  private newestUpTo(latest: number, now: number): number | undefined {
    let local = this.times.previous(latest);
    while (local !== undefined) {
      const change = this.zone.changeAtLocal(local);
      if (!change) return this.zone.instantOf(local);
      if (isOverlap(change)) return local - (this.rhythm && local - change.after <= now ? change.after : change.before);
      if (this.isMadeUp(change)) return change.at;
      local = this.times.previous(change.at + change.before - 1);
    }
    return undefined;
  }

  /** Whether what falls into this gap needs an instant of its own right after it. Asked only when something does. */
  private isMadeUp(gap: ZoneChange): boolean {
    if (!this.rhythm) return true;
    const step = gap.after - gap.before;
    const end = gap.at + gap.after;
    let local = this.times.next(gap.at + gap.before);
    while (local !== undefined && local < end) {
      if (this.times.next(local + step) !== local + step) return true;
      // All minutes have the same seconds: one for each minute tells.
      local = this.times.next((Math.floor(local / MINUTE_MS) + 1) * MINUTE_MS);
    }
    return false;
  }

  /** The change whose second pass is running. */
  private overlapAt(at: number): ZoneChange | undefined {
    return this.zone.changeNear(at, (c) => at >= c.at && at < c.at + (c.before - c.after));
  }
}

function isOverlap(change: ZoneChange): boolean {
  return change.before > change.after;
}
