import type { RenewRequest, RenewResult, StoreError } from '../lease-store.js';
import { escapePart, type LeaseKeys } from './keys.js';
import { readRenew } from './replies.js';
import type { Asked, ScriptCalls } from './script-calls.js';
import { renewScript } from './scripts/renew.script.js';

/** Renewals of a Redis store: many leases in few calls, each with its own result. A process may hold thousands, so little is made for each. */
export class RedisRenewals {
  constructor(
    private readonly keys: LeaseKeys,
    private readonly calls: ScriptCalls,
    private readonly retention: readonly number[],
  ) {}

  /** Rejects only when nothing at all could be asked. */
  renew(requests: readonly RenewRequest[]): Promise<RenewResult[]> {
    if (requests.length === 0) return Promise.resolve([]);
    return new Promise((resolve, reject) => {
      const results = new Results(requests.length, resolve, reject);
      const asked = requests.map((request, i) => new Renewal(this.keys.ofHeld(request.key), request, i, results));
      this.calls.send(renewScript, this.retention, asked);
    });
  }
}

/** The results of one call of `renew`, as they come in. */
class Results {
  private readonly results: RenewResult[];
  private left: number;
  private failed = 0;
  private held: RenewResult & { readonly kind: 'held' } = { kind: 'held' };

  constructor(
    private readonly size: number,
    private readonly resolve: (results: RenewResult[]) => void,
    private readonly reject: (error: StoreError) => void,
  ) {
    this.results = new Array<RenewResult>(size);
    this.left = size;
  }

  answered(i: number, reply: unknown, lease: string, serverTimeMs: number): void {
    if (reply !== 1) {
      this.put(i, readRenew(reply, lease, serverTimeMs));
      return;
    }
    // One for all that the same reply says.
    if (this.held.serverTimeMs !== serverTimeMs) this.held = { kind: 'held', serverTimeMs };
    this.put(i, this.held);
  }

  unanswered(i: number, error: StoreError): void {
    this.failed += 1;
    this.put(i, { kind: 'unknown', error }, error);
  }

  private put(i: number, result: RenewResult, error?: StoreError): void {
    this.results[i] = result;
    this.left -= 1;
    if (this.left > 0) return;
    if (error && this.failed === this.size) this.reject(error);
    else this.resolve(this.results);
  }
}

class Renewal implements Asked {
  readonly args: readonly (string | number)[];

  constructor(
    readonly keys: readonly [lease: string, fence: string],
    { holderId, ttlMs, fencingToken }: RenewRequest,
    private readonly at: number,
    private readonly results: Results,
  ) {
    this.args = [escapePart(holderId), ttlMs, fencingToken];
  }

  settle(reply: unknown, serverTimeMs: number): void {
    this.results.answered(this.at, reply, this.keys[0], serverTimeMs);
  }

  fail(error: StoreError): void {
    this.results.unanswered(this.at, error);
  }
}
