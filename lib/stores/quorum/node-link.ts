import type { Clock } from '../../time/clock.js';
import { StoreError, type LeaseStore, type LeaveRequest } from '../lease-store.js';
import type { QuorumNode } from '../quorum-node.js';
import { TakeBacks, type Leftover } from '../take-backs.js';
import { toStoreError } from '../to-store-error.js';

const FIRST_PAUSE_MS = 100;

/** One node, as the quorum sees it: each call has a time limit of its own, and what is left behind there is taken back. */
export class NodeLink {
  /** It has not answered its last call: nobody holds his breath for it. */
  silent = false;
  /** Names the server behind it, as far as it was told. */
  run = '';
  /** What is not wanted there: taken back by its holderId. */
  readonly leftovers: TakeBacks<Leftover & LeaveRequest>;

  constructor(
    readonly store: LeaseStore,
    readonly node: QuorumNode,
    /** For messages. */
    readonly name: string,
    private readonly clock: Clock,
    readonly timeoutMs: number,
  ) {
    this.leftovers = new TakeBacks({
      clock,
      takeBack: ({ key, holderId, holderTag }) => this.within(Infinity, store.leave({ key, holderId, holderTag })),
      firstPauseMs: FIRST_PAUSE_MS,
      neverLeft: (error) => toStoreError(error).notSent === true,
    });
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
