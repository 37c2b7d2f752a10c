import { hasLeaseErrorCode } from '../errors/lease-error.js';
import type { LeaseLostError } from '../errors/lease-lost.error.js';
import { LeaseShutdownError } from '../errors/lease-shutdown.error.js';
import { coolDownAtRelease } from '../lease/cool-down.js';
import { isHeld, loseLease } from '../lease/lease-control.js';
import type { Lease } from '../lease/lease.js';
import { leaseServiceParts, type LeaseService, type LeaseServiceParts } from '../service/lease.service.js';
import type { Duration } from '../time/duration.js';
import type { JobClaim, RunOutcome } from './job-claim.js';
import { Slots } from './slots.js';
import { parseRetryAfter, resolveWorkerOptions, type LeasedJobWorkerOptions, type ResolvedWorkerOptions } from './worker-options.js';

/**
 * Works on jobs that other replicas work on too: each job is claimed by one worker at a time, and by another one when that has
 * crashed. Where the jobs are listed is yours (a table, a queue); a claim does not mark a job as done, so write that, with the
 * claim's fencing token, before the job is completed.
 *
 * ```ts
 * const worker = new LeasedJobWorker(leases, { keyOf: (id) => `job:${id}`, ttl: 60, concurrency: 4 });
 * const claim = await worker.claimNext(await openJobs());
 * if (claim) await worker.run(claim.jobId, ({ fencingToken, signal }) => work(claim.jobId, fencingToken, signal));
 * ```
 *
 * Each claim ends with `complete`, `abandon`, or the end of its `run`, also one that was lost; until then it counts against
 * `concurrency`, and is kept alive. When the application shuts down nothing is claimed any more, and claims count as running handlers.
 */
export class LeasedJobWorker {
  readonly #parts: LeaseServiceParts;
  readonly #options: ResolvedWorkerOptions;
  readonly #slots: Slots;
  readonly #claims = new Map<string, JobClaim>();
  /** Of `#claims`, those that `run` works on. */
  readonly #running = new Set<JobClaim>();
  #draining = false;

  /** @throws LeaseOptionsError */
  constructor(leases: LeaseService, options: LeasedJobWorkerOptions) {
    this.#parts = leaseServiceParts(leases);
    this.#options = resolveWorkerOptions(options, this.#parts.engine.defaults);
    this.#slots = new Slots(this.#options.concurrency);
  }

  /** The claims of this worker, oldest first. */
  get active(): readonly JobClaim[] {
    return [...this.#claims.values()];
  }

  /**
   * One try to claim a job: `undefined` when another worker has it, it may not be tried yet, or this worker has it already or has as
   * many claims as `concurrency` allows.
   * @throws LeaseUnavailableError, LeaseShutdownError, LeaseKeyError
   */
  async tryClaim(jobId: string): Promise<JobClaim | undefined> {
    this.#refuseWhenClosed();
    if (this.#claims.has(jobId) || !this.#slots.tryTake()) return undefined;
    return this.#claimInSlot(() => this.#acquire(jobId));
  }

  /**
   * Claims the first of these jobs that is free, in one round trip for a hundred of them: the store chooses, so replicas that ask for
   * the same list at the same moment get different jobs. `undefined` as with `tryClaim`. In a Redis Cluster, whose nodes cannot
   * choose together, it is any one that is free, and two round trips.
   * @throws LeaseUnavailableError, LeaseShutdownError, LeaseKeyError
   */
  async claimNext(jobIds: Iterable<string>): Promise<JobClaim | undefined> {
    this.#refuseWhenClosed();
    const jobs = new Map<string, string>();
    for (const jobId of jobIds) {
      const key = this.#options.keyOf(jobId);
      if (!this.#claims.has(jobId) && !jobs.has(key)) jobs.set(key, jobId);
    }
    if (jobs.size === 0 || !this.#slots.tryTake()) return undefined;
    return this.#claimInSlot(async () => {
      const lease = await this.#parts.registry.tryAcquireFirst([...jobs.keys()], this.#options.acquire);
      return lease && { jobId: jobs.get(lease.key) as string, lease };
    });
  }

  /**
   * Claims the job, or takes the claim that this worker has of it, runs `fn` under it, and completes it. While this worker has as
   * many claims as `concurrency` allows, the call waits for its turn. What `fn` throws is thrown on, after the job was abandoned
   * (with the worker's `retryAfter`).
   * @throws LeaseUnavailableError, LeaseShutdownError, LeaseKeyError, what `fn` throws
   */
  async run<T>(jobId: string, fn: (claim: JobClaim) => T): Promise<RunOutcome<Awaited<T>>> {
    const claim = await this.#claimToRun(jobId);
    if (!claim) return { kind: 'busy' };
    this.#running.add(claim);
    try {
      const result = await this.#parts.calls.under(claim.lease, `the run of job "${jobId}"`, () => this.#work(claim, fn));
      return { kind: 'done', result };
    } catch (error) {
      if (isLossOf(claim, error)) return { kind: 'lost', error };
      throw error;
    } finally {
      this.#running.delete(claim);
      this.#forget(claim);
    }
  }

  /** The job is done: gives the claim back. `true` when it was ours to the end; `false` when it was lost, or this worker has no claim of that job. */
  async complete(jobId: string): Promise<boolean> {
    return this.#end(jobId);
  }

  /**
   * The job is not done: gives the claim back, so that it may be claimed again, by anybody, `retryAfter` from now (default: at once;
   * at most a day). Gives what `complete` gives.
   * @throws LeaseOptionsError
   */
  async abandon(jobId: string, options: { readonly retryAfter?: Duration | undefined } = {}): Promise<boolean> {
    const retryAfterMs = options.retryAfter === undefined ? this.#options.retryAfterMs : parseRetryAfter(options.retryAfter);
    const claim = this.#claims.get(jobId);
    if (claim) this.#coolDown(claim, retryAfterMs);
    return this.#end(jobId);
  }

  /** Claims nothing any more, for good, and resolves when all claims have ended. Safe to repeat. */
  async drain(): Promise<void> {
    this.#draining = true;
    this.#slots.refuseWaiting(new LeaseShutdownError());
    await this.#slots.idle();
  }

  async #claimToRun(jobId: string): Promise<JobClaim | undefined> {
    const ours = (): JobClaim | undefined => this.#claims.get(jobId);
    if (!ours()) {
      this.#refuseWhenClosed();
      await this.#slots.take();
      if (!ours()) return this.#claimInSlot(() => this.#acquire(jobId));
      this.#slots.give();
    }
    const claim = ours();
    return claim && !this.#running.has(claim) ? claim : undefined;
  }

  async #acquire(jobId: string): Promise<{ jobId: string; lease: Lease } | undefined> {
    const lease = await this.#parts.registry.tryAcquire(this.#options.keyOf(jobId), this.#options.acquire);
    return lease && { jobId, lease };
  }

  /** With a slot taken, which is given back unless there is a claim. */
  async #claimInSlot(acquire: () => Promise<{ jobId: string; lease: Lease } | undefined>): Promise<JobClaim | undefined> {
    let claim: JobClaim | undefined;
    try {
      this.#refuseWhenClosed();
      const found = await acquire();
      if (!found) return undefined;
      const { jobId, lease } = found;
      if (this.#draining) await lease.release();
      this.#refuseWhenClosed();
      claim = { jobId, lease, fencingToken: lease.fencingToken, signal: lease.signal };
      this.#claims.set(jobId, claim);
      return claim;
    } finally {
      if (!claim) this.#slots.give();
    }
  }

  async #work<T>(claim: JobClaim, fn: (claim: JobClaim) => T): Promise<Awaited<T>> {
    try {
      return await fn(claim);
    } catch (error) {
      if (isRefusalOf(claim, error)) loseLease(claim.lease, 'fenced', error);
      else this.#coolDown(claim, this.#options.retryAfterMs);
      throw error;
    }
  }

  #coolDown({ lease }: JobClaim, retryAfterMs: number): void {
    if (retryAfterMs > 0 && isHeld(lease) !== 'released') coolDownAtRelease(this.#parts.engine, lease, retryAfterMs);
  }

  async #end(jobId: string): Promise<boolean> {
    const claim = this.#claims.get(jobId);
    if (!claim) return false;
    const lost = isHeld(claim.lease) === 'lost';
    const released = await claim.lease.release();
    if (!this.#running.has(claim)) this.#forget(claim);
    return released && !lost;
  }

  #forget(claim: JobClaim): void {
    if (this.#claims.get(claim.jobId) !== claim) return;
    this.#claims.delete(claim.jobId);
    this.#slots.give();
  }

  #refuseWhenClosed(): void {
    if (this.#draining || this.#parts.registry.stopping) throw new LeaseShutdownError();
  }
}

function isLossOf({ lease }: JobClaim, error: unknown): error is LeaseLostError {
  if (!hasLeaseErrorCode(error, 'LEASE_LOST') || error.key !== lease.key) return false;
  return (error as LeaseLostError).fencingToken === lease.fencingToken;
}

/** What the job wrote to has seen a newer claim. */
function isRefusalOf({ fencingToken }: JobClaim, error: unknown): boolean {
  return hasLeaseErrorCode(error, 'FENCING_TOKEN_STALE') && 'fencingToken' in error && error.fencingToken === fencingToken;
}
