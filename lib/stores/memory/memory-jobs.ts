import type { CoolDownReply, CoolDownRequest, FirstGranted, FirstRequest, JobStore, NoneFree } from '../job-store.js';
import type { AcquireRequest } from '../lease-store.js';
import type { HeldLease } from './held-lease.js';

/** What job workers ask of the leases around them. */
export interface JobLeases {
  now(): number;
  held(key: string, now: number): HeldLease | undefined;
  /** One try. */
  take(request: AcquireRequest, now: number): { readonly kind: string };
  /** Ends the lease of this holder and leaves its key taken for `cooldownMs`. True when it was its holder's. */
  end(request: CoolDownRequest, now: number): boolean;
}

/** What job workers need, with the rules of the Redis store. */
export class MemoryJobs implements JobStore {
  constructor(private readonly leases: JobLeases) {}

  async acquireFirst({ candidates, ...holder }: FirstRequest): Promise<FirstGranted | NoneFree> {
    await Promise.resolve();
    const now = this.leases.now();
    const ours = candidates.findIndex(({ key }) => this.leases.held(key, now)?.holderId === holder.holderId);
    for (const [index, candidate] of candidates.entries()) {
      if (ours >= 0 && index !== ours) continue;
      const reply = this.leases.take({ ...holder, ...candidate }, now);
      if (reply.kind === 'granted') return { ...(reply as Omit<FirstGranted, 'index'>), index };
    }
    return { kind: 'busy' };
  }

  async coolDown(request: CoolDownRequest): Promise<CoolDownReply> {
    await Promise.resolve();
    return { kind: this.leases.end(request, this.leases.now()) ? 'released' : 'not-held' };
  }
}
