import { DEFAULT_SERVICE } from '../lease.constants.js';
import { parseKeyTemplate } from '../metadata/key-template.js';
import type { KeySource } from '../metadata/resolve-key.js';
import { wrapMethod } from '../metadata/wrap-method.js';
import { checkOptions } from './check-options.js';
import type { WithLeaseOptions } from './with-lease-options.js';
import type { WithLeaseDecorator } from './with-lease.types.js';

/**
 * Runs the method under a lease of `key`: never two runs of one key at once in the whole fleet, whoever calls it.
 * Held until the result has finished: a promise, an Observable or an async iterable.
 *
 * @param key a template, or a function of the caller's arguments. `<name>` (or `{name}`) is, in this order: a parameter marked
 * `@LeaseKey('name')`; the one route, query, body, payload or argument parameter decorated with that property name; if there is exactly
 * one parameter of the caller's own, its property of that name, or itself when it is a primitive; else a source parameter of that name (two or more
 * letters). `<0>` and `<0.id>` address by position, `<user.id>` by path. Write `<<` or `{{` for a literal bracket.
 * Nothing of class or method is added.
 * @throws LeaseOptionsError at decoration for a bad option or template.
 *
 * A call rejects with `LeaseBusyError`, `LeaseLostError`, `LeaseUnavailableError`, `LeaseNotDurableError`, `LeaseShutdownError`,
 * or, before the body runs, `LeaseKeyError`; the method's own error passes as it is.
 */
export function WithLease<const O extends WithLeaseOptions = WithLeaseOptions>(
  key: KeySource,
  options?: O & Record<Exclude<keyof O, keyof WithLeaseOptions>, never>,
): WithLeaseDecorator<O> {
  const { onBusy, service = DEFAULT_SERVICE, returns, ttl, wait, maxHold, skipValue, reentry } = checkOptions('@WithLease', options);
  if (typeof key === 'string') parseKeyTemplate(key);
  const request = {
    decorator: '@WithLease',
    key,
    service,
    returns,
    options: { ttl, wait, maxHold, onBusy, skipValue, reentry },
    skipsInSilence: onBusy === 'skip' && !(options !== undefined && 'skipValue' in options),
  };
  return (target: object, method?: string | symbol, descriptor?: PropertyDescriptor) =>
    void wrapMethod(target, method, descriptor, request);
}
