import { AsyncResource } from 'node:async_hooks';
import { from, isObservable, mergeMap, Observable, of, Subscription, type Subscriber } from 'rxjs';
import type { LeasedCall } from '../metadata/leased-call.js';
import { SKIPPED, type Entry, type ExecutorParts } from './entry.js';
import type { Frame } from './lease-context.js';
import { settleFailed } from './loss.js';

/** A call that acquires on each subscription and holds until that completes, errors or is unsubscribed. */
export function leasedObservable(call: LeasedCall, entry: Entry, parts: ExecutorParts): Observable<unknown> {
  const called = entry.origin();
  // Frameworks subscribe outside the async context of the call: what the handler expects there (a request id) is that of the call.
  const resource = new AsyncResource('LeasedObservable');
  return new Observable((subscriber) => {
    const cancel = new AbortController();
    const running = new Subscription(() => cancel.abort(new Error('The caller unsubscribed before the lease was acquired.')));
    const origin = { ...called, outer: parts.context.frame ?? called.outer, cancelled: cancel.signal };
    const begin = (frame: Frame | typeof SKIPPED): void => {
      if (frame === SKIPPED) {
        running.add(skipped(call.options.skipValue).subscribe(subscriber));
        return;
      }
      if (running.closed) {
        void frame.shared.leave();
        return;
      }
      const source = (): Observable<unknown> => toObservable(call.invoke(frame.shared.lease));
      running.add(subscribeUnder(frame, source, subscriber, (fn) => resource.runInAsyncScope(() => parts.context.run(frame, fn))));
    };
    entry.enter(call, origin).then(begin, (error: unknown) => subscriber.error(error));
    return running;
  });
}

/**
 * Subscribes to `source` inside the frame and leaves the shared lease when it is over. Once the lease is lost the source is
 * unsubscribed, which is how an Observable is stopped, and the stream ends with the loss.
 */
export function subscribeUnder(
  frame: Frame,
  source: () => Observable<unknown>,
  subscriber: Subscriber<unknown>,
  within: (fn: () => void) => void,
): Subscription {
  const { shared } = frame;
  const inner = new Subscription();
  let left = false;
  const once = (settle: () => Promise<void>): void => {
    if (left) return;
    left = true;
    inner.unsubscribe();
    void settle();
  };
  const fail = (error: unknown): void => once(async () => subscriber.error(await settleFailed(shared, error)));
  const complete = (): void =>
    once(async () => {
      const loss = await shared.leave();
      if (loss) subscriber.error(loss);
      else subscriber.complete();
    });
  const values = { next: (value: unknown) => subscriber.next(value), error: fail, complete };
  void shared.lease.lost.then(fail);
  within(() => {
    try {
      inner.add(source().subscribe(values));
    } catch (error) {
      fail(error);
    }
  });
  return new Subscription(() => once(async () => void (await shared.leave())));
}

/** What a body that declares an Observable may give back. */
function toObservable(result: unknown): Observable<unknown> {
  if (isObservable(result)) return result;
  const later = typeof result === 'object' && result !== null && ('then' in result || Symbol.observable in result);
  if (!later) return of(result);
  return from(result as Promise<unknown>).pipe(mergeMap((value) => (isObservable(value) ? value : of(value))));
}

function skipped(value: unknown): Observable<unknown> {
  return isObservable(value) ? value : of(value);
}
