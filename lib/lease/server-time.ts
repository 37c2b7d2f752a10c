/** A step back of the store's clock that is worth telling. Shorter ones happen where clocks are slewed. */
const STEP_MS = 1000;

/** Notices when the store's clock goes back, from its time in replies. */
export class ServerTime {
  /** Server time less our monotonic time, at least: taken when a reply had arrived. */
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
    this.offset = Math.max(this.offset ?? -Infinity, atLeast);
  }
}
