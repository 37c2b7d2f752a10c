import { finished, type Readable } from 'node:stream';
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
  const stream = streamOf(result);
  if (stream) {
    holdStream(stream, frame.shared, parts);
    return result;
  }
  if (!(Symbol.asyncIterator in result)) return undefined;
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

type Stream = Readable | ReadableStream;

/** Node and web streams, and a Nest `StreamableFile`, are more than iterables: they are passed on as they are, and held until they have ended. */
function streamOf(result: object): Stream | undefined {
  if ('getStream' in result && 'getHeaders' in result && typeof result.getStream === 'function') {
    const inner: unknown = (result.getStream as () => unknown)();
    return typeof inner === 'object' && inner !== null ? streamOf(inner) : undefined;
  }
  if (!(Symbol.asyncIterator in result)) return undefined;
  return ('pipe' in result && 'destroy' in result) || 'getReader' in result ? (result as Stream) : undefined;
}

/** Held until the stream is over. It is ended when the lease is lost, and when nobody has begun to read it within one ttl. */
function holdStream(stream: Stream, shared: SharedLease, parts: ExecutorParts): void {
  const ttlMs = ttlOf(shared.lease);
  const timer = parts.engine.clock.setTimer(() => {
    if (isUnread(stream)) endStream(stream, new Error(`Nobody read the stream within one ttl (${String(ttlMs)} ms).`));
  }, ttlMs);
  finished(stream as Readable, () => {
    timer.cancel();
    void shared.leave();
  });
  void shared.lease.lost.then((loss) => endStream(stream, loss));
}

function isUnread(stream: Stream): boolean {
  return 'locked' in stream ? !stream.locked : stream.readableFlowing === null && !stream.readableDidRead;
}

/** `finished` keeps an error listener on it, so that this crashes nobody. A web stream that has a reader is that reader's to end. */
function endStream(stream: Stream, why: Error): void {
  if ('destroy' in stream) stream.destroy(why);
  else if (!stream.locked) stream.cancel(why).catch(() => undefined);
}
