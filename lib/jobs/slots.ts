/** So many at once and no more; who comes when all are taken may wait for one. */
export class Slots {
  private taken = 0;
  private readonly waiting: { readonly enter: () => void; readonly refuse: (error: unknown) => void }[] = [];
  private readonly idlers: (() => void)[] = [];

  constructor(private readonly limit: number) {}

  /** Takes one if it is free and nobody waits for it. */
  tryTake(): boolean {
    if (this.taken >= this.limit) return false;
    this.taken++;
    return true;
  }

  /** Takes one, in the order of asking. @throws the error given to `refuseWaiting` */
  async take(): Promise<void> {
    if (this.tryTake()) return;
    await new Promise<void>((enter, refuse) => this.waiting.push({ enter, refuse }));
  }

  give(): void {
    const next = this.waiting.shift();
    // Handed over without being free in between.
    if (next) next.enter();
    else if (--this.taken === 0) for (const idle of this.idlers.splice(0)) idle();
  }

  /** Sends away who waits. */
  refuseWaiting(error: unknown): void {
    for (const { refuse } of this.waiting.splice(0)) refuse(error);
  }

  /** Resolves when none is taken. */
  idle(): Promise<void> {
    return this.taken === 0 ? Promise.resolve() : new Promise((resolve) => this.idlers.push(resolve));
  }
}
