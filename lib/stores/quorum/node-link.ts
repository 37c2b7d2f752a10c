import type { Clock } from '../../time/clock.js';
import { StoreError, type LeaseStore } from '../lease-store.js';
import type { QuorumNode } from '../quorum-node.js';
import { Leftovers } from './leftovers.js';
import { toStoreError } from './to-store-error.js';

/** One node, as the quorum sees it: each call has a time limit of its own, and what is left behind there is taken back. */
export class NodeLink {
  /** It has not answered its last call: nobody holds his breath for it. */
  silent = false;
  /** Names the server behind it, as far as it was told. */
  run = '';
  readonly leftovers: Leftovers;

  constructor(
    readonly store: LeaseStore,
    readonly node: QuorumNode,
    /** For messages. */
    readonly name: string,
    private readonly clock: Clock,
    readonly timeoutMs: number,
  ) {
    this.leftovers = new Leftovers(clock, (request) => this.within(Infinity, store.leave(request)));
  }

  /** Settles as the call does, or rejects after `limitMs`; the call itself goes on. Never longer than the node's own limit. @throws StoreError */
  within<T>(limitMs: number, call: Promise<T>): Promise<T> {
    const ms = Math.max(1, Math.min(limitMs, this.timeoutMs));
    return new Promise<T>((resolve, reject) => {
      const timer = this.clock.setTimer(() => {
        this.silent = true;
        this.store.unanswered?.();
        reject(new StoreError('transient', `it did not answer within ${String(Math.round(ms))} ms`));
      }, ms);
      const settle = (act: () => void): void => {
        timer.cancel();
        act();
      };
      call.then(
        (value) => {
          this.silent = false;
          settle(() => resolve(value));
        },
        (error: unknown) => {
          const reason = toStoreError(error);
          this.silent = reason.kind === 'transient';
          settle(() => reject(reason));
        },
      );
    });
  }
}
