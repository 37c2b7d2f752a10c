import type { LeaseLostError } from '../errors/lease-lost.error.js';
import { isHeld, loseLease } from '../lease/lease-control.js';
import type { Lease } from '../lease/lease.js';
import type { LeaseRegistry } from '../service/lease-registry.js';

/** A lease that a call and the calls nested in it share: given back when the last of them has settled. */
export class SharedLease {
  private users = 1;

  constructor(
    readonly lease: Lease,
    private readonly registry: LeaseRegistry,
  ) {
    registry.begin(lease);
  }

  /** All calls have settled: what still runs in this async context was left behind by them. */
  get over(): boolean {
    return this.users === 0;
  }

  join(): void {
    this.users++;
  }

  /** One call has settled. Tells the loss it has to report. Never rejects. */
  async leave(): Promise<LeaseLostError | undefined> {
    this.users--;
    if (this.users === 0) return this.registry.settle(this.lease);
    if (isHeld(this.lease) === 'held') return undefined;
    return this.lossOf();
  }

  /** A result that nobody reads: the call is over, and its lease lost unless others share it. */
  abandon(why: Error): void {
    if (this.users === 1) loseLease(this.lease, 'expired', why);
    void this.leave();
  }

  /** Others go on with the lease, so that it cannot be judged by giving it back: asking the store tells. */
  private async lossOf(): Promise<LeaseLostError | undefined> {
    try {
      await this.lease.renew();
      return undefined;
    } catch (error) {
      return error as LeaseLostError;
    }
  }
}
