import { LeaseOptionsError } from '../errors/lease-options.error.js';

/**
 * Default of a parameter that a decorator fills, so that callers may leave it out:
 * `settle(id: string, @FencingToken() token: number = injected())`. The wrapper always overwrites the parameter, so this runs only
 * when the method runs without it.
 * @throws LeaseOptionsError whenever it runs.
 */
export function injected<T>(): T {
  throw new LeaseOptionsError(
    'injected',
    'A parameter with the default injected() was not filled: the method ran without its lease. Put @WithLease on the method and @FencingToken() or @CurrentLease() on the parameter, and call it on the instance.',
  );
}
