import 'reflect-metadata';
import { LeaseOptionsError } from '../errors/lease-options.error.js';
import { KEY_PARTS_METADATA, SLOTS_METADATA } from '../lease.constants.js';
import type { InjectableLease } from './leased-call.js';
import { requireInstanceMethod, siteOf } from './member.js';

/** What fills a parameter: the fencing token, or the lease itself. */
export type SlotKind = 'token' | 'lease';
/** By index of the parameter. */
export type Slots = ReadonlyMap<number, SlotKind>;
/** Name given by `@LeaseKey`, by index of the parameter. */
export type KeyParts = ReadonlyMap<number, string>;

/** Remembers that we fill this parameter. @throws LeaseOptionsError on static methods and constructors, or when it is marked twice */
export function markSlot(decorator: string, target: object, method: string | symbol | undefined, index: number, kind: SlotKind): void {
  requireInstanceMethod(decorator, target, method);
  const own = ownSlots(target, method);
  if (own?.has(index)) throw twice(decorator, target, method, index);
  refuseBoth(decorator, target, method, index, ownMap(KEY_PARTS_METADATA, target, method));
  mark(SLOTS_METADATA, target, method, index, kind);
}

/** Remembers that this parameter fills `<name>`. @throws LeaseOptionsError as above, or when another parameter has this name */
export function markKeyPart(decorator: string, target: object, method: string | symbol | undefined, index: number, name: string): void {
  requireInstanceMethod(decorator, target, method);
  const own = ownMap<string>(KEY_PARTS_METADATA, target, method);
  if (own?.has(index)) throw twice(decorator, target, method, index);
  refuseBoth(decorator, target, method, index, ownSlots(target, method));
  for (const other of own?.values() ?? []) {
    if (other === name)
      throw new LeaseOptionsError(
        decorator,
        `Two parameters of ${siteOf(target, method)} are marked ${decorator}('${name}'): only one can fill <${name}>.`,
      );
  }
  mark(KEY_PARTS_METADATA, target, method, index, name);
}

/** The parameters that we fill. An overriding method has those of its base, as route parameters have, and may add or replace. */
export const slotsOf = (target: object, method: string | symbol): Slots => merged(SLOTS_METADATA, target, method);
/** The parameters named by `@LeaseKey`, inherited in the same way. */
export const keyPartsOf = (target: object, method: string | symbol): KeyParts => merged(KEY_PARTS_METADATA, target, method);
/** The parameters that were marked on this very class; what the start-up audit looks at. */
export const ownSlots = (target: object, method: string | symbol): Slots | undefined => ownMap<SlotKind>(SLOTS_METADATA, target, method);
/** The names that `@LeaseKey` gave on this very class. */
export const ownKeyParts = (target: object, method: string | symbol): KeyParts | undefined =>
  ownMap<string>(KEY_PARTS_METADATA, target, method);

/** A copy of the arguments with the injected ones in place, whatever the caller passed there. */
export function fillSlots(args: readonly unknown[], slots: Slots, lease: InjectableLease): unknown[] {
  const filled = [...args];
  for (const [index, kind] of slots) {
    while (filled.length < index) filled.push(undefined);
    filled[index] = kind === 'token' ? lease.fencingToken : lease;
  }
  return filled;
}

function ownMap<V>(key: string, target: object, method: string | symbol): ReadonlyMap<number, V> | undefined {
  return Reflect.getOwnMetadata(key, target, method) as ReadonlyMap<number, V> | undefined;
}

function mark<V>(key: string, target: object, method: string | symbol, index: number, value: V): void {
  // A new map each time: the one of a base class is never changed.
  Reflect.defineMetadata(key, new Map([...(ownMap<V>(key, target, method) ?? []), [index, value]]), target, method);
}

function merged<V>(key: string, target: object, method: string | symbol): ReadonlyMap<number, V> {
  const base = Object.getPrototypeOf(target) as object | null;
  const inherited: Iterable<[number, V]> = base === null || base === Object.prototype ? [] : merged<V>(key, base, method);
  return new Map([...inherited, ...(ownMap<V>(key, target, method) ?? [])]);
}

function twice(decorator: string, target: object, method: string | symbol, index: number): LeaseOptionsError {
  return new LeaseOptionsError(
    decorator,
    `Parameter ${String(index)} of ${siteOf(target, method)} is marked twice: keep one of the decorators.`,
  );
}

function refuseBoth(
  decorator: string,
  target: object,
  method: string | symbol,
  index: number,
  others: ReadonlyMap<number, unknown> | undefined,
): void {
  if (!others?.has(index)) return;
  throw new LeaseOptionsError(
    decorator,
    `Parameter ${String(index)} of ${siteOf(target, method)} is both injected and part of the key: the key is needed before there is a lease to inject.`,
  );
}
