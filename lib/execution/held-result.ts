import { finished } from 'node:stream';
import { isObservable, Observable } from 'rxjs';
import { ttlOf } from '../lease/lease-control.js';
import type { ClockTimer } from '../time/clock.js';
import type { ExecutorParts } from './entry.js';
import type { Frame } from './lease-context.js';
import { LeasedIterator } from './leased-iterable.js';
import { subscribeUnder } from './leased-observable.js';
import type { SharedLease } from './shared-lease.js';

/**
 * A handler's promise brought something that is yet to be read: what to give the caller in its place, under the lease until it
 * has been read to its end. `undefined` for an ordinary result, which is over now.
 */
export function holdWhileRead(result: unknown, frame: Frame, parts: ExecutorParts): unknown {
  if (typeof result !== 'object' || result === null) return undefined;
  if (isObservable(result)) {
    const claim = new Claim(frame.shared, parts);
    return new Observable((subscriber) => {
      try {
        claim.take();
      } catch (error) {
        subscriber.error(error);
        return undefined;
      }
      return subscribeUnder(
        frame,
        () => result,
        subscriber,
        (fn) => parts.context.run(frame, fn),
      );
    });
  }
  if (!(Symbol.asyncIterator in result)) return undefined;
  if (isStream(result)) return holdStream(result, frame.shared);
  const iterable = result as AsyncIterable<unknown, unknown, unknown>;
  const claim = new Claim(frame.shared, parts);
  return new LeasedIterator(parts.context, async () => {
    claim.take();
    return Promise.resolve({ frame, source: () => iterable[Symbol.asyncIterator]() });
  });
}

/** The lease that waits for the first reader: within one ttl, or it is lost, since nobody may ever come. */
class Claim {
  private readonly timer: ClockTimer;
  private taken = false;

  constructor(
    private readonly shared: SharedLease,
    parts: ExecutorParts,
  ) {
    const ttlMs = ttlOf(shared.lease);
    this.timer = parts.engine.clock.setTimer(() => {
      this.taken = true;
      shared.abandon(new Error(`Nobody subscribed to the result within one ttl (${String(ttlMs)} ms).`));
    }, ttlMs);
  }

  /**
   * The first reader takes over the place of the call; a further one joins.
   * @throws LeaseLostError when the lease is over
   */
  take(): void {
    this.timer.cancel();
    if (this.taken) {
      this.shared.lease.assertHeld();
      this.shared.join();
    }
    this.taken = true;
  }
}

/** Node and web streams are more than iterables: they are passed on as they are, and held until they have ended. */
function isStream(value: object): value is NodeJS.ReadableStream {
  return ('pipe' in value && 'on' in value) || 'getReader' in value;
}

function holdStream(stream: NodeJS.ReadableStream, shared: SharedLease): unknown {
  finished(stream, () => void shared.leave());
  return stream;
}
