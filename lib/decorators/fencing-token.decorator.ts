import { markSlot } from '../metadata/parameter-slots.js';
import type { InjectingDecorator } from './parameter.types.js';

/**
 * Fills the parameter with the fencing token of the call's lease: a safe integer that increases with every acquisition of the key.
 * Hand it to whatever the method writes to, so that a write of a former holder can be refused. Whatever the caller passes there is overwritten;
 * the default `= injected()` makes it optional for callers.
 * With several leases on one method it is the one of the innermost (the decorator closest to the method).
 * @throws LeaseOptionsError on static methods and constructors; at start-up when the method takes no lease.
 */
export function FencingToken(): InjectingDecorator<number> {
  return (target, method, index) => {
    markSlot('@FencingToken()', target, method, index, 'token');
  };
}
