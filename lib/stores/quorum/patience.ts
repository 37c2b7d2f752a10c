import type { Clock, ClockTimer } from '../../time/clock.js';
import type { Ballot } from './ballot.js';
import { majorityOf } from './rules.js';

/** So long, and as long as the majority has taken, nodes have to answer with the others; less for a short lease. */
const GRACE_MS = 25;
const PART_OF_TTL = 1 / 40;

/**
 * How long a round waits for more grants than it needs, since a lease on all nodes outlives the loss of some. A node that did not
 * answer its last call is not waited for.
 */
export class Patience {
  private readonly startedAt: number;
  private timer: ClockTimer | undefined;
  private isOver = false;

  constructor(
    private readonly clock: Clock,
    private readonly ttlMs: number,
    private readonly onOver: () => void,
  ) {
    this.startedAt = clock.monotonic();
  }

  /** Whether to wait for those who have not answered; the time begins when a majority has granted. */
  waitsFor(ballots: readonly Ballot[]): boolean {
    if (this.isOver || !ballots.some(({ state, link }) => state === 'asked' && !link.silent)) return false;
    if (ballots.filter(({ state }) => state === 'granted').length < majorityOf(ballots.length)) return true;
    this.timer ??= this.clock.setTimer(
      () => {
        this.isOver = true;
        this.onOver();
      },
      Math.min(GRACE_MS, this.ttlMs * PART_OF_TTL) + this.clock.monotonic() - this.startedAt,
    );
    return true;
  }

  end(): void {
    this.isOver = true;
    this.timer?.cancel();
  }
}
