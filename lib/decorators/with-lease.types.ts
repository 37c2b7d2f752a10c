/* eslint-disable @typescript-eslint/no-explicit-any -- methods of every shape are decorated */
import type { Observable } from 'rxjs';
import type { WithLeaseOptions } from './with-lease-options.js';

/** What a leased method may return: the lease is held until it has finished, so it must be something that finishes later. */
export type FinishesLater = PromiseLike<any> | Observable<any> | AsyncIterable<any>;

/** A method that can take a lease. One that returns at once cannot: make it `async`. */
export type LeasableMethod = (...args: any[]) => FinishesLater;

/** What a result gives in the end: the value of the promise, or the values of the stream. */
type ValueOf<R> = R extends PromiseLike<infer V> ? V : R extends Observable<infer V> ? V : R extends AsyncIterable<infer V> ? V : never;

/** Where a skipped call returns `undefined`, the return type has to say so. */
type AllowsUndefined<T extends (...args: any[]) => any> =
  // `undefined extends` holds for `any`, `unknown`, `void` and every union with `undefined`.
  undefined extends ValueOf<ReturnType<T>> ? unknown : SkipNeedsValue;

/** Read this as the error: with `onBusy: 'skip'` give a `skipValue`, or let the method return `undefined` as well. */
export interface SkipNeedsValue {
  readonly 'onBusy: "skip" needs a skipValue, or a return type that allows undefined': never;
}

/** Whether calls with these options may be skipped without a value. */
type SkipsInSilence<O> = O extends { readonly onBusy: 'skip' } ? (O extends { readonly skipValue: unknown } ? false : true) : false;

/** The decorator that `WithLease(key, options)` gives; its constraints are what does not compile. */
export interface WithLeaseDecorator<O extends WithLeaseOptions> {
  <T extends LeasableMethod>(
    target: object,
    method: string | symbol,
    descriptor: TypedPropertyDescriptor<T> & (SkipsInSilence<O> extends true ? AllowsUndefined<T> : unknown),
  ): void;
  /**
   * Never for a class, which is refused at decoration: it lets Nest's `applyDecorators` take the decorator, whose parameters know
   * nothing of the method to come.
   */
  // eslint-disable-next-line @typescript-eslint/no-unsafe-function-type -- what a `ClassDecorator` takes
  (target: Function): void;
}
