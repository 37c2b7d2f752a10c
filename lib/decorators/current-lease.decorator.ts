import { markSlot } from '../metadata/parameter-slots.js';

/**
 * Fills the parameter with the `Lease` of the call: its `signal`, `fencingToken`, `assertHeld()`. Whatever the caller passes there
 * is overwritten; the default `= injected()` makes it optional for callers.
 * @throws LeaseOptionsError on static methods and constructors; at start-up when the method takes no lease.
 */
export function CurrentLease(): ParameterDecorator {
  return (target, method, index) => {
    markSlot('@CurrentLease()', target, method, index, 'lease');
  };
}
