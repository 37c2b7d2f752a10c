import { LeaseOptionsError } from '../errors/lease-options.error.js';

/** Any method. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- methods of every shape are decorated
export type AnyMethod = (...args: any[]) => unknown;

/** How a method is called in messages: `JobsController.run`. */
export function siteOf(target: object, method: string | symbol): string {
  const owner: unknown = typeof target === 'function' ? target : target.constructor;
  return `${typeof owner === 'function' && owner.name !== '' ? owner.name : '(anonymous class)'}.${String(method)}`;
}

/** Refuses static methods, constructors and properties: none has an instance that Nest could give an executor to. @throws LeaseOptionsError */
export function requireInstanceMethod(
  decorator: string,
  target: object,
  method: string | symbol | undefined,
): asserts method is string | symbol {
  if (method === undefined) {
    throw new LeaseOptionsError(
      decorator,
      `${decorator} stands on the class or the constructor of ${siteOf(target, 'constructor')}: put it on a method or its parameters.`,
    );
  }
  if (typeof target === 'function') {
    throw new LeaseOptionsError(
      decorator,
      `${decorator} stands on the static method ${siteOf(target, method)}: a static method has no instance that Nest injects into. Make it an instance method of a provider.`,
    );
  }
}

/** The prototypes of an instance or class, from the most derived one up, without `Object.prototype`. */
export function* prototypeChain(prototype: object | null): Generator<object> {
  for (let current = prototype; current !== null && current !== Object.prototype; current = Object.getPrototypeOf(current) as object | null)
    yield current;
}

/** The function that stands on this very prototype (not on one above it) under this name; accessors do not count. */
export function ownMethod(prototype: object, method: string | symbol): AnyMethod | undefined {
  const value: unknown = Object.getOwnPropertyDescriptor(prototype, method)?.value;
  return typeof value === 'function' ? (value as AnyMethod) : undefined;
}
