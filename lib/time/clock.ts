/** A timer of a `Clock`; it never keeps the process alive. */
export interface ClockTimer {
  /** Ends the timer; harmless when it has fired. */
  cancel(): void;
}

/** Where every room gets the time from, so that tests can move it. All values in milliseconds. */
export interface Clock {
  /** Never goes back, but stands still while the machine is suspended. */
  monotonic(): number;
  /** Wall-clock time since the epoch: goes on during suspend, and may be stepped in either direction. */
  wall(): number;
  /**
   * How long the machine has been suspended since it was booted, as far as the system tells, or `undefined` where it does
   * not tell. Only differences mean something. It ignores steps of the wall clock.
   */
  suspended(): number | undefined;
  /** Calls `fn` once after `ms`; any length (longer than Node's own limit of 2^31 − 1 ms too). */
  setTimer(fn: () => void, ms: number): ClockTimer;
}
