/**
 * When a job is due: a pure function of the clock time it is asked about. It holds no clock and no timer, and every replica
 * with the same `description` gives the same answers, whenever it was started.
 *
 * All times are milliseconds since the epoch; an instant is a whole number of them.
 */
export interface InstantSchedule {
  /**
   * Expression and zone in a normal form (`'0 0,30 * * * * Europe/Berlin'`): what replicas compare. Two spellings of one
   * schedule (`MON-FRI`, `1-5`) have the same description.
   */
  readonly description: string;
  /**
   * The shortest distance of two instants on a day without a change of the clocks; on such a day it may be shorter, since a
   * skipped time is made up for right after the gap. `Infinity` for a single instant.
   */
  readonly shortestGapMs: number;
  /** The newest instant that is not later than `nowMs`; undefined when there is none (a single instant still to come). */
  newestNotAfter(nowMs: number): number | undefined;
  /** The first instant later than `ms`; undefined when there is none (a single instant that has passed). */
  nextAfter(ms: number): number | undefined;
  /**
   * How long it may be quiet between two instants: never below the truth within nine years from `fromMs`, above it by at
   * most three hours (for changes of the clocks). Zero for a single instant.
   *
   * @param fromMs where to start looking. Default: a span that contains the longest stretch without a leap day, so that the
   * answer depends on the schedule alone.
   */
  longestGapMs(fromMs?: number): number;
}
