import type { LeaseLostError } from '../errors/lease-lost.error.js';
import type { LeasedCall } from '../metadata/leased-call.js';
import { SKIPPED, type Entry, type ExecutorParts } from './entry.js';
import type { Frame, LeaseContext } from './lease-context.js';
import { settleFailed } from './loss.js';

type Step = IteratorResult<unknown, unknown>;
type Source = AsyncIterator<unknown, unknown, unknown> | Iterator<unknown, unknown, unknown>;

/** A call that acquires on the first `next()` and holds until the iterator is done, fails or is closed. */
export function leasedIterable(call: LeasedCall, entry: Entry, parts: ExecutorParts): AsyncGenerator<unknown, unknown, unknown> {
  const called = entry.origin();
  return new LeasedIterator(parts.context, async () => {
    const frame = await entry.enter(call, { ...called, outer: parts.context.frame ?? called.outer });
    if (frame === SKIPPED) return { frame: undefined, source: () => skipped(call.options.skipValue) };
    return { frame, source: async () => iteratorOf(await call.invoke(frame.shared.lease), call.site) };
  });
}

/** What is read, and the frame to read it in; no frame when the call was skipped. */
export interface Opened {
  readonly frame: Frame | undefined;
  readonly source: () => Source | Promise<Source>;
}

/**
 * An async iterator whose every step runs under a lease. When the lease is lost between two steps, the source is told by
 * `throw()`, so that it can wind down, and the next step throws the loss.
 */
export class LeasedIterator implements AsyncGenerator<unknown, unknown, unknown> {
  private readonly steps: AsyncGenerator<unknown, unknown, unknown>;
  private pending = 0;
  private over = false;
  private unreported: { readonly error: unknown } | undefined;

  constructor(context: LeaseContext, open: () => Promise<Opened>) {
    this.steps = read(context, open, (loss) => this.lost(loss));
  }

  next(value?: unknown): Promise<Step> {
    return this.report(this.steps.next(value));
  }

  return(value?: unknown): Promise<Step> {
    return this.report(this.steps.return(value));
  }

  throw(error?: unknown): Promise<Step> {
    return this.report(this.steps.throw(error));
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return();
  }

  private async report(step: Promise<Step>): Promise<Step> {
    this.pending++;
    try {
      const result = await step;
      if (!result.done) return result;
      this.over = true;
      const missed = this.unreported;
      this.unreported = undefined;
      if (missed) throw missed.error;
      return result;
    } catch (error) {
      this.over = true;
      throw error;
    } finally {
      this.pending--;
    }
  }

  /** A step under way reports the loss itself. */
  private lost(loss: LeaseLostError): void {
    if (this.over || this.pending > 0) return;
    this.steps.throw(loss).catch((error: unknown) => (this.unreported = { error }));
  }
}

async function* read(
  context: LeaseContext,
  open: () => Promise<Opened>,
  onLost: (loss: LeaseLostError) => void,
): AsyncGenerator<unknown, unknown, unknown> {
  const { frame, source: begin } = await open();
  const within = <T>(fn: () => T): T => (frame ? context.run(frame, fn) : fn());
  const lease = frame?.shared.lease;
  void lease?.lost.then(onLost);
  let source: Source | undefined;
  let failure: { readonly error: unknown } | undefined;
  try {
    source = await within(begin);
    let step = await within(() => (source as Source).next());
    while (!step.done) {
      lease?.signal.throwIfAborted();
      step = await advance(source, yield* offer(step.value), within);
    }
    source = undefined;
    return step.value;
  } catch (error) {
    failure = { error };
    return undefined;
  } finally {
    await end(frame, failure, () => within(() => source?.return?.()));
  }
}

type Answer = { readonly sent: unknown } | { readonly thrown: unknown };

/** Hands a value out; the consumer answers by `next(value)` or `throw(error)`. */
// It waits at its yield.
// eslint-disable-next-line @typescript-eslint/require-await
async function* offer(value: unknown): AsyncGenerator<unknown, Answer, unknown> {
  try {
    return { sent: yield value };
  } catch (thrown) {
    return { thrown };
  }
}

function advance(source: Source, answer: Answer, within: <T>(fn: () => T) => T): Step | Promise<Step> {
  if ('sent' in answer) return within(() => source.next(answer.sent));
  if (source.throw) return within(() => (source.throw as (error: unknown) => Step | Promise<Step>)(answer.thrown));
  throw answer.thrown;
}

/** Closes the source where it has not ended by itself, gives the lease back, and throws what the consumer must know. */
async function end(frame: Frame | undefined, failure: { readonly error: unknown } | undefined, close: () => unknown): Promise<void> {
  let failed = failure;
  try {
    await close();
  } catch (error) {
    failed ??= { error };
  }
  if (failed) throw frame ? await settleFailed(frame.shared, failed.error) : failed.error;
  const loss = await frame?.shared.leave();
  if (loss) throw loss;
}

function iteratorOf(result: unknown, site: string): Source {
  if (typeof result === 'object' && result !== null) {
    if (Symbol.asyncIterator in result) return (result as AsyncIterable<unknown, unknown, unknown>)[Symbol.asyncIterator]();
    if (Symbol.iterator in result) return (result as Iterable<unknown, unknown, unknown>)[Symbol.iterator]();
  }
  throw new TypeError(`${site} is declared to return an async iterable and returned ${typeof result}.`);
}

function skipped(value: unknown): Source {
  if (typeof value === 'object' && value !== null && (Symbol.asyncIterator in value || Symbol.iterator in value))
    return iteratorOf(value, '');
  return { next: () => ({ done: true, value }) };
}
