import 'reflect-metadata';
import { WITH_LEASE_METADATA } from '../lease.constants.js';
import type { InjectableLease, LeasedCallOptions, ReturnShape } from './leased-call.js';
import type { AnyMethod } from './member.js';
import type { KeyResolver } from './resolve-key.js';

/** One lease on one method, as it was declared. A method with several has several, the innermost first. */
export interface LeaseDeclaration {
  /** The decorator that declared it, for messages: `@WithLease`. */
  readonly decorator: string;
  /** The prototype that it stands on. */
  readonly target: object;
  readonly method: string | symbol;
  /** `JobsController.run`. */
  readonly site: string;
  /** Name of the service whose executor runs it. */
  readonly service: string;
  readonly options: LeasedCallOptions;
  /** `onBusy: 'skip'` without a `skipValue`: refused where silence would read as success. */
  readonly skipsInSilence: boolean;
  readonly returns: ReturnShape;
  readonly key: KeyResolver;
  /** What it wraps: the method itself, or the wrapper of a declaration below. */
  readonly original: AnyMethod;
  /** What it put in its place. */
  readonly wrapper: AnyMethod;
  /** Fills the injected parameters and runs `original` on `instance`. */
  readonly invoke: (instance: unknown, args: readonly unknown[], lease: InjectableLease) => unknown;
  /**
   * What the decorators have left in the descriptor, and so what the class was given: the wrapper, or a function that a decorator
   * above put around it. Anything else on the class is a patch made afterwards.
   */
  readonly inPlace: () => unknown;
}

/** Remembers a declaration on the wrapper and on the prototype by method name, so that the audit finds it whatever stands there later. */
export function rememberDeclaration(declaration: LeaseDeclaration): void {
  const { target, method, original, wrapper } = declaration;
  Reflect.defineMetadata(WITH_LEASE_METADATA, [...declarationsOn(original), declaration], wrapper);
  Reflect.defineMetadata(WITH_LEASE_METADATA, [...declaredAt(target, method), declaration], target, method);
}

/** The declarations that a function carries: our own wrapper, or one around it that copied its metadata. */
export const declarationsOn = (method: AnyMethod): readonly LeaseDeclaration[] =>
  (Reflect.getOwnMetadata(WITH_LEASE_METADATA, method) as readonly LeaseDeclaration[] | undefined) ?? [];

/** The declarations made on this very class for this method. */
export const declaredAt = (target: object, method: string | symbol): readonly LeaseDeclaration[] =>
  (Reflect.getOwnMetadata(WITH_LEASE_METADATA, target, method) as readonly LeaseDeclaration[] | undefined) ?? [];
