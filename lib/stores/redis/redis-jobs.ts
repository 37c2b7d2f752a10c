import type { CoolDownReply, CoolDownRequest, FirstCandidate, FirstGranted, FirstRequest, JobStore, NoneFree } from '../job-store.js';
import type { LeaseRecord, StoreError } from '../lease-store.js';
import type { GrantPath } from './grant-calls.js';
import { escapePart, type LeaseKeys } from './keys.js';
import { readAcquire } from './replies.js';
import { MOST_IN_CALL, type Asked, type ScriptCalls } from './script-calls.js';
import { acquireFirstScript } from './scripts/acquire-first.script.js';
import { coolDownScript } from './scripts/cool-down.script.js';

/** A candidate, and which one of the request it is. */
interface Indexed extends FirstCandidate {
  readonly index: number;
}

/** What job workers need of Redis. */
export class RedisJobs implements JobStore {
  constructor(
    private readonly keys: LeaseKeys,
    private readonly calls: ScriptCalls,
    private readonly grants: GrantPath,
    private readonly retention: readonly number[],
    /** What scripts that may pass a lease on are given. */
    private readonly passing: readonly (string | number)[],
    private readonly inspect: (key: string) => Promise<LeaseRecord | undefined>,
  ) {}

  async acquireFirst(request: FirstRequest): Promise<FirstGranted | NoneFree> {
    const all = request.candidates.map((candidate, index): Indexed => ({ ...candidate, index }));
    const loads = this.calls.isCluster ? (await this.free(all, request.holderTag)).map((one) => [one]) : inLoads(all);
    let failure: StoreError | undefined;
    for (const load of loads) {
      const { granted, error } = await this.tryFirst(request, load);
      if (granted) return granted;
      failure ??= error;
    }
    if (failure) throw failure;
    return { kind: 'busy' };
  }

  coolDown({ key, holderId, fencingToken, cooldownMs }: CoolDownRequest): Promise<CoolDownReply> {
    return new Promise((resolve, reject) => {
      const keys = this.keys.of(key).slice(0, 2);
      const args = [escapePart(holderId), fencingToken, cooldownMs];
      const settle = (reply: unknown): void => resolve({ kind: reply === 1 ? 'released' : 'not-held' });
      this.calls.send(coolDownScript, this.retention, [{ keys, args, settle, fail: reject }]);
    });
  }

  /**
   * Leases of a Cluster lie in slots of their own, and no script sees two: looks at all at once, and begins anywhere. What the
   * holder has already comes first; what could not be looked at, last.
   */
  private async free(all: readonly Indexed[], holderTag: string): Promise<Indexed[]> {
    const records = await Promise.allSettled(all.map(({ key }) => this.inspect(key)));
    const [own, free, unseen]: [Indexed[], Indexed[], Indexed[]] = [[], [], []];
    records.forEach((record, i) => {
      const one = all[i] as Indexed;
      if (record.status === 'rejected') unseen.push(one);
      else if (record.value === undefined) free.push(one);
      else if (record.value.holderTag === holderTag) own.push(one);
    });
    const from = Math.floor(Math.random() * free.length);
    return [...own, ...free.slice(from), ...free.slice(0, from), ...unseen];
  }

  /** One call. What one candidate has against a grant (something foreign under its key) is not in the way of the others. */
  private tryFirst(request: FirstRequest, load: readonly Indexed[]): Promise<{ granted?: FirstGranted; error?: StoreError }> {
    return new Promise((resolve) => {
      let granted: FirstGranted | undefined;
      let error: StoreError | undefined;
      let left = load.length;
      const settled = (): void => {
        left -= 1;
        if (left === 0) resolve({ ...(granted && { granted }), ...(error && { error }) });
      };
      const asked = load.map((candidate): Asked => ({
        ...this.askFor(request, candidate),
        settle: (reply, time) => {
          if (reply !== 0) granted ??= this.read(reply, request, candidate, time);
          settled();
        },
        fail: (reason) => {
          error ??= reason;
          settled();
        },
      }));
      this.grants.send(acquireFirstScript, this.passing, asked);
    });
  }

  private askFor(
    { holderId, holderTag, holder, ttlMs }: FirstRequest,
    { key, floor = 0 }: Indexed,
  ): Pick<Asked, 'keys' | 'args' | 'ttlMs'> {
    return { keys: this.keys.of(key), ttlMs, args: [escapePart(holderId), ttlMs, floor, `${escapePart(holderTag)} ${holder}`, ''] };
  }

  /** @throws StoreError */
  private read(reply: unknown, request: FirstRequest, { key, index, floor }: Indexed, time: number): FirstGranted | undefined {
    const { candidates: _, ...holder } = request;
    const read = readAcquire(reply, { ...holder, key, ...(floor === undefined ? {} : { floor }) }, this.keys.of(key)[0], time);
    return read.kind === 'granted' ? { ...read, index } : undefined;
  }
}

function inLoads<T>(all: readonly T[]): T[][] {
  return Array.from({ length: Math.ceil(all.length / MOST_IN_CALL) }, (_, i) => all.slice(i * MOST_IN_CALL, (i + 1) * MOST_IN_CALL));
}
