import { SystemClock } from '../../lib/time/system-clock.js';

/** The clock of the machine, on which the wall clock can be set and the machine can seem to have slept. */
export class ShiftedClock extends SystemClock {
  private wallShift = 0;
  private slept = 0;

  override wall(): number {
    return super.wall() + this.wallShift;
  }

  override suspended(): number | undefined {
    return (super.suspended() ?? 0) + this.slept;
  }

  /** Somebody sets the wall clock. */
  stepWall(ms: number): void {
    this.wallShift += ms;
  }

  /** The machine was suspended for `ms`: the wall clock went on, the monotonic clock stood still. */
  suspend(ms: number): void {
    this.wallShift += ms;
    this.slept += ms;
  }
}
