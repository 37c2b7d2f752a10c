import type { Duration } from '../time/duration.js';

/**
 * What to do about an instant at which nobody was there to run it: nothing (`skip`), or run the newest such instant, once, when
 * somebody is back (`run-once`).
 */
export type Misfire = 'skip' | 'run-once';

/** What to do about an instant whose run died with its process: nothing (`skip`), or run the same instant again elsewhere (`rerun`). */
export type OnCrash = 'skip' | 'rerun';

/**
 * Options of every scheduled job. What the policies do, for a job at every full minute (`=` a run, `·` nothing):
 *
 * ```
 * longer than the period   10:00 ======================= 10:02:30   10:01 and 10:02 come while it runs: missed, and told
 *                                                                   (`instant-missed`); never two bodies. 10:03 runs.
 * misfire: 'skip'          10:00 =   fleet down 10:00:30 to 10:03:20   10:01, 10:02, 10:03 are not run. 10:04 runs.
 * misfire: 'run-once'      10:00 =   fleet down 10:00:30 to 10:03:20   10:03 is run at 10:03:20; 10:01 and 10:02 are not.
 * onCrash: 'skip'          10:00 ==x killed at 10:00:05   10:00 is over (history: `crashed`). 10:01 runs, unless the ttl is longer.
 * onCrash: 'rerun'         10:00 ==x killed at 10:00:05   10:00 is run again elsewhere when the lease has expired, with a higher
 *                                                         fencing token: at least once. Not once 10:01 has come.
 * atLeastFor: '20s'        10:00 = done at 10:00:01   the lease is kept by nobody until 10:00:20: nothing runs under its key before.
 * maxHold: '40s'           10:00 ======x at 10:00:40 the signal aborts (`max-hold`), the lease goes with the handler or its ttl.
 * the handler fails        10:00 =! released at once, event `run-failed`, the error logged once. 10:01 runs.
 * the store is away        10:00 ······ asked again until 10:01, and run late if it answers by then; otherwise
 *                                `instant-unavailable`. Never run without its lease.
 * shutdown                 no instant is taken any more; a running one has the module's `shutdownGrace`.
 * ```
 */
export interface SingletonJobOptions {
  /** Required, since class names change in minified builds; unique in the application, and the same on every replica. The lease's key is `cron:<name>`. */
  readonly name: string;
  /**
   * How long the lease lives without a renewal (it is renewed while the job runs): 100 ms to one day. After a crash the job
   * stands still for as long at most, so it should be shorter than the period. Default: the module's `ttl` (30 s).
   */
  readonly ttl?: Duration | undefined;
  /** Longest time to hold the lease, at most 7 days; then the run's signal aborts with `max-hold`. Default: the module's `maxHold` (none). */
  readonly maxHold?: Duration | undefined;
  /** The fleet was down (or frozen, or not yet deployed) when an instant came. Default: `skip`. */
  readonly misfire?: Misfire | undefined;
  /** With `misfire: 'run-once'`: how late an instant may still be made up for; at most 366 days. Default: `'1h'`. */
  readonly misfireWindow?: Duration | undefined;
  /** The holder died in the run. `rerun` is at-least-once: the body must bear being run again. Default: `skip`. */
  readonly onCrash?: OnCrash | undefined;
  /** The lease is kept until so long after the start of the run, however soon it has finished; at most a day. Default: 0. */
  readonly atLeastFor?: Duration | undefined;
  /** Name of the lease service, as in `LeaseModule.forRoot({ name })`. Default: the service without a name. */
  readonly service?: string | undefined;
  /** Registered, but not started. Default: false. */
  readonly disabled?: boolean | undefined;
}

/** Options of `@SingletonCron`: those of `@Cron`, and the policies. */
export type SingletonCronOptions = SingletonJobOptions & {
  /** As for `@Cron`. No job overlaps itself, with or without it. */
  readonly waitForCompletion?: boolean | undefined;
  /** As for `@Cron`: the timer that `SchedulerRegistry` knows does not keep the process alive. Default: false. */
  readonly unrefTimeout?: boolean | undefined;
  /** As for `@Cron`, in **milliseconds**: how late a wake-up may be for its instant; what is later counts as a misfire. Default: 60,000. */
  readonly threshold?: number | undefined;
  /** As for `@Cron`, in **milliseconds**: nothing is run for so long after the start. Default: 0. */
  readonly initialDelay?: number | undefined;
} & (
    | {
        /** Where the expression is read (`'Europe/Berlin'`). Default: the zone of the process, which then must be the same on every replica. */
        readonly timeZone?: string | undefined;
        readonly utcOffset?: undefined;
      }
    | {
        readonly timeZone?: undefined;
        /** Where the expression is read, as a fixed difference to UTC in **minutes**, as for `@Cron`. */
        readonly utcOffset?: number | undefined;
      }
  );

/** Options of `@SingletonInterval`. */
export type SingletonIntervalOptions = SingletonJobOptions;

/** What a job is scheduled by: an expression of five or six fields, a `CronExpression`, or a `Date` (or luxon `DateTime`) for one single run. */
export type SingletonCronTime = string | Date | { toJSDate(): Date };
