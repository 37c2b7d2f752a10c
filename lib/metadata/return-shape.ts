import 'reflect-metadata';
import { LeaseOptionsError } from '../errors/lease-options.error.js';
import type { ReturnShape } from './leased-call.js';
import { siteOf, type AnyMethod } from './member.js';

/**
 * How a method's result takes its time, unless the option `returns` says it: an async generator is an `iterable`, a method
 * annotated `: Observable` is an `observable` (known by the compiler's type metadata), everything else a `promise`.
 * @throws LeaseOptionsError for a generator that is not async: its first value would have to be there before the lease is.
 */
export function returnShapeOf(decorator: string, target: object, method: string | symbol, original: AnyMethod): ReturnShape {
  const kind = Object.prototype.toString.call(original);
  if (kind === '[object AsyncGeneratorFunction]') return 'iterable';
  if (kind === '[object GeneratorFunction]') {
    throw new LeaseOptionsError(
      decorator,
      `${siteOf(target, method)} is a generator that is not async: ${decorator} cannot wait for its lease there. Make it an async generator (async *${String(method)}).`,
    );
  }
  return isObservableClass(Reflect.getOwnMetadata('design:returntype', target, method)) ? 'observable' : 'promise';
}

/** By shape: a minified build renames the class, and there may be two copies of rxjs. */
function isObservableClass(type: unknown): boolean {
  const prototype: unknown = typeof type === 'function' ? type.prototype : undefined;
  if (typeof prototype !== 'object' || prototype === null) return false;
  return (
    'subscribe' in prototype && typeof prototype.subscribe === 'function' && 'pipe' in prototype && typeof prototype.pipe === 'function'
  );
}
