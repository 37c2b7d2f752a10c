import type { LeasedCall, LeaseExecutorPort } from '../metadata/leased-call.js';
import type { Lease } from '../lease/lease.js';
import type { CallOptions, LeasedCalls, OuterCall } from '../service/leased-calls.js';
import { Entry, SKIPPED, type ExecutorParts } from './entry.js';
import type { Frame } from './lease-context.js';
import { holdWhileRead } from './held-result.js';
import { leasedIterable } from './leased-iterable.js';
import { leasedObservable } from './leased-observable.js';
import { settleFailed } from './loss.js';

/** The one path that every leased call takes: decorated methods, `withLease`, cron. */
export class LeaseExecutor implements LeaseExecutorPort, LeasedCalls {
  private readonly entry: Entry;

  constructor(private readonly parts: ExecutorParts) {
    this.entry = new Entry(parts);
  }

  /** Runs a call under its lease, in the shape it declares. Never throws synchronously. */
  run(call: LeasedCall): unknown {
    if (call.returns === 'observable') return leasedObservable(call, this.entry, this.parts);
    if (call.returns === 'iterable') return leasedIterable(call, this.entry, this.parts);
    return this.runPromise(call);
  }

  withLease<T>(key: string, options: CallOptions | undefined, fn: (lease: Lease) => T): Promise<Awaited<T>> {
    const call: LeasedCall = {
      site: options?.site ?? `withLease('${key}')`,
      options: options ?? {},
      returns: 'promise',
      key: () => key,
      invoke: () => fn((this.parts.context.frame as Frame).shared.lease),
    };
    return this.runPromise(call) as Promise<Awaited<T>>;
  }

  under<T>(lease: Lease, site: string, fn: (lease: Lease) => T): Promise<Awaited<T>> {
    const call: LeasedCall = { site, options: {}, returns: 'promise', key: () => lease.key, lease, invoke: () => fn(lease) };
    return this.runPromise(call) as Promise<Awaited<T>>;
  }

  current(key?: string): OuterCall | undefined {
    const frame = this.parts.context.find(this.parts.engine, key);
    return frame && { lease: frame.shared.lease, site: frame.site };
  }

  inside(): boolean {
    return this.parts.context.inside();
  }

  private async runPromise(call: LeasedCall): Promise<unknown> {
    const frame = await this.entry.enter(call, this.entry.origin());
    if (frame === SKIPPED) return call.options.skipValue;
    const { shared } = frame;
    let result: unknown;
    try {
      result = await this.parts.context.run(frame, () => call.invoke(shared.lease));
    } catch (error) {
      throw await settleFailed(shared, error);
    }
    const stream = holdWhileRead(result, frame, this.parts);
    if (stream !== undefined) return stream;
    const loss = await shared.leave();
    if (loss) throw loss;
    return result;
  }
}
