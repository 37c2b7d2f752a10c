import { LeaseOptionsError } from '../errors/lease-options.error.js';
import type { LeaseDeclaration } from '../metadata/declaration.js';
import { siteOf } from '../metadata/member.js';
import { ownKeyParts, ownSlots } from '../metadata/parameter-slots.js';

/** @throws LeaseOptionsError for a marked parameter of a method that takes no lease: nothing would ever fill it */
export function refuseOrphans(prototype: object, name: string | symbol): void {
  const mark = ownSlots(prototype, name) ? '@FencingToken() or @CurrentLease()' : ownKeyParts(prototype, name) && '@LeaseKey()';
  if (mark === undefined) return;
  throw new LeaseOptionsError(
    'parameter',
    `A parameter of ${siteOf(prototype, name)} is marked ${mark}, but the method takes no lease: put @WithLease on it.`,
  );
}

/** @throws LeaseOptionsError for a `@LeaseKey('name')` that no template of the method asks for: another parameter would fill what was meant */
export function refuseUnusedKeyParts(prototype: object, name: string | symbol, declared: readonly LeaseDeclaration[]): void {
  for (const part of ownKeyParts(prototype, name)?.values() ?? []) {
    if (declared.some(({ key }) => key.names?.has(part))) continue;
    throw new LeaseOptionsError(
      '@LeaseKey',
      `A parameter of ${siteOf(prototype, name)} is marked @LeaseKey('${part}'), but the key has no <${part}>: write the name that the key asks for, or remove the mark.`,
    );
  }
}
