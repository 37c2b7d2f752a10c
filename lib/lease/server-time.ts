/** A step back of the store's clock that is worth telling. Shorter ones happen where clocks are slewed. */
const STEP_MS = 1000;

/** The store's clock as far as replies tell it; notices when it goes back. */
export class ServerTime {
  /** Server time less our monotonic time: the highest lower bound, taken when a reply had arrived. */
  private offset: number | undefined;

  constructor(
    private readonly monotonic: () => number,
    private readonly onBack: (byMs: number) => void,
  ) {}

  saw(serverTimeMs: number, sentMono: number): void {
    const atMost = serverTimeMs - sentMono;
    const atLeast = serverTimeMs - this.monotonic();
    if (this.offset !== undefined && atMost < this.offset - STEP_MS) {
      this.onBack(Math.round(this.offset - atMost));
      this.offset = undefined;
    }
    // Never above what this reply allows: its time cannot be earlier than when it was asked.
    this.offset = Math.min(Math.max(this.offset ?? -Infinity, atLeast), atMost);
  }

  /** The store's time now, in milliseconds since the epoch: behind it by the way of a reply, and hardly ever ahead. `undefined` before the first reply. */
  now(): number | undefined {
    return this.offset === undefined ? undefined : this.monotonic() + this.offset;
  }
}
