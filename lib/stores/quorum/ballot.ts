import type { AcquireRequest, Busy, StoreError } from '../lease-store.js';
import type { NodeMemory } from '../quorum-node.js';
import type { Vote } from './decide.js';
import type { NodeLink } from './node-link.js';
import { experienceOf, type MemoryLimits } from './rules.js';

/** The vote of one node in one round. */
export class Ballot {
  /** `lost`: it was granted, and was not ours any more when it should be confirmed. */
  state: 'asked' | 'granted' | 'busy' | 'failed' | 'lost' = 'asked';
  /** The token that the node gave. */
  granted = 0;
  busy: Busy | undefined;
  error: StoreError | undefined;
  /** The token whose confirmation was sent last; 0 for none. */
  asking = 0;
  /** The last token that the node has confirmed; 0 for none. */
  confirmed = 0;
  /** What the node may have forgotten, where it has said so. */
  memory: NodeMemory | undefined;
  /** Whether it was asked which tokens it remembers: `told` when it has said so. */
  recall: 'none' | 'asked' | 'told' | 'failed' = 'none';
  private callOver = false;
  private tookBack = false;

  constructor(
    readonly link: NodeLink,
    /** By our monotonic clock, before the request left. */
    readonly sentAt: number,
    /** The request itself, which may outlive its time limit. */
    private readonly call: Promise<unknown>,
  ) {
    const over = (): void => void (this.callOver = true);
    call.then(over, over);
  }

  /** `limits`: `undefined` where nodes are taken to forget nothing. */
  vote(limits: MemoryLimits | undefined): Vote {
    const { granted, asking, confirmed } = this;
    const state = this.state === 'asked' || this.state === 'granted' ? this.state : 'refused';
    return { state, granted, asking, confirmed, experience: limits ? experienceOf(this.memory?.rememberedMs, limits) : 'experienced' };
  }

  /** Something was taken back, or may have to be: the id under which it was asked is not to be used again. */
  get isDirty(): boolean {
    return this.tookBack || !this.callOver;
  }

  /** Takes back what the node may hold for us. One that has not answered yet is left alone until it has. */
  takeBack({ key, holderId, holderTag, ttlMs }: AcquireRequest): void {
    const { state, error } = this;
    const isUncertain = state === 'failed' && (this.granted > 0 || (error?.kind === 'transient' && !error.notSent));
    if (this.tookBack || (state !== 'granted' && !isUncertain)) return;
    this.tookBack = true;
    const pending = this.callOver ? undefined : this.call;
    this.link.leftovers.add({ key, holderId, holderTag, ttlMs, pending });
  }
}
