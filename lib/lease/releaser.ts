import type { EngineParts } from './engine-parts.js';
import type { LeaseCore } from './lease-core.js';
import { callLimitMs, withTimeLimit } from './time-limit.js';
import type { LeaseLeftover } from './undo.js';

/** A finished handler waits no longer than this for its release to be confirmed; the rest is done in the background. */
const LONGEST_WAIT_MS = 1000;

/** Gives leases back: each once, by its holderId, and never at the price of the handler's result. */
export class Releaser {
  constructor(private readonly engine: EngineParts) {}

  /** True for the call that freed it. Never rejects. */
  free(core: LeaseCore): Promise<boolean> {
    if (core.ending) return core.ending.then(() => false);
    return (core.ending = this.release(core));
  }

  private release(core: LeaseCore): Promise<boolean> {
    const { engine } = this;
    const { key, holderId, fencingToken } = core;
    core.check();
    const lost = core.lost !== undefined;
    core.release();
    const limitMs = Math.min(callLimitMs(core.ttlMs, engine.defaults.commandTimeoutMs), LONGEST_WAIT_MS);
    const call = engine.outside(() => core.giveBack?.release() ?? engine.store.release({ key, holderId, fencingToken }));
    return withTimeLimit(engine.clock, limitMs, call, () => engine.store.unanswered?.()).then(
      ({ kind }) => {
        // An earlier try to acquire that was never answered may yet be carried out.
        if (core.uncertain) engine.undoer.undo({ ...leftOf(core, limitMs), ...core.uncertain });
        if (kind === 'not-held' && !lost) this.tellFailed(core, 'the store did not hold it for us any more', undefined);
        if (kind === 'released' && !lost) this.tellReleased(core);
        return kind === 'released';
      },
      (error: unknown) => {
        if (!lost) this.tellFailed(core, 'the store did not confirm it; it is tried again in the background until the ttl is over', error);
        const takeBack = core.giveBack && (() => core.giveBack?.again() ?? Promise.resolve());
        engine.undoer.undo({ ...leftOf(core, limitMs), pending: call, takeBack });
        return false;
      },
    );
  }

  private tellReleased(core: LeaseCore): void {
    const { events } = this.engine;
    const { key, fencingToken } = core;
    if (events.has('released')) events.emit({ type: 'released', key, fencingToken, heldMs: core.heldMs() });
  }

  private tellFailed(core: LeaseCore, detail: string, error: unknown): void {
    const { events } = this.engine;
    const { key, fencingToken } = core;
    if (events.has('release-failed')) events.emit({ type: 'release-failed', key, fencingToken, detail, error });
  }
}

const leftOf = ({ key, holderId, holderTag, longestTtlMs }: LeaseCore, limitMs: number): LeaseLeftover => ({
  ...{ key, holderId, holderTag, limitMs },
  ttlMs: longestTtlMs,
});
