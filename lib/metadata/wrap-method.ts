import 'reflect-metadata';
import { LeaseOptionsError } from '../errors/lease-options.error.js';
import { executorOf, injectExecutor } from './bind-executor.js';
import { declarationsOn, rememberDeclaration, type LeaseDeclaration } from './declaration.js';
import type { LeasedCallOptions, ReturnShape } from './leased-call.js';
import { requireInstanceMethod, siteOf, type AnyMethod } from './member.js';
import { fillSlots, slotsOf } from './parameter-slots.js';
import { createKeyResolver } from './resolve-key.js';
import { returnShapeOf } from './return-shape.js';
import { failIn, unboundError } from './unbound.js';

/** What a decorator declares, after it has checked its options. */
export interface LeaseRequest {
  /** For messages: `@WithLease`. */
  readonly decorator: string;
  /** A template or a function of the caller's arguments. */
  readonly key: unknown;
  /** The key to join, of those that the caller's context holds, in the place of `key`: a scheduled run calls the method under its job's own. */
  readonly joins?: (holds: (key: string) => boolean) => string | undefined;
  readonly service: string;
  readonly options: LeasedCallOptions;
  readonly skipsInSilence: boolean;
  /** Default: found out by `returnShapeOf`. */
  readonly returns?: ReturnShape | undefined;
}

/**
 * Puts a wrapper in the place of the method, in the descriptor itself (Nest's `applyDecorators` drops a returned one).
 * The wrapper is a Proxy: `name`, `length` and every property are those of the method, and it carries a copy of its Reflect
 * metadata, so that decorators above and below find what they would find without it.
 * @throws LeaseOptionsError
 */
export function wrapMethod(
  target: object,
  method: string | symbol | undefined,
  descriptor: PropertyDescriptor | undefined,
  request: LeaseRequest,
): LeaseDeclaration {
  requireInstanceMethod(request.decorator, target, method);
  const original: unknown = descriptor?.value;
  if (!descriptor || typeof original !== 'function') {
    throw new LeaseOptionsError(
      request.decorator,
      `${request.decorator} stands on ${siteOf(target, method)}, which is not a method: accessors and properties cannot take a lease.`,
    );
  }
  const declaration = declare(target, method, original as AnyMethod, request, descriptor);
  copyMetadata(declaration.original, declaration.wrapper);
  rememberDeclaration(declaration);
  injectExecutor(target, request.service);
  descriptor.value = declaration.wrapper;
  return declaration;
}

function declare(
  target: object,
  method: string | symbol,
  original: AnyMethod,
  request: LeaseRequest,
  descriptor: PropertyDescriptor,
): LeaseDeclaration {
  const slots = slotsOf(target, method);
  // The source and the kind of a method that another of our wrappers hides.
  const innermost = declarationsOn(original)[0]?.original ?? original;
  const declaration: LeaseDeclaration = {
    decorator: request.decorator,
    target,
    method,
    site: siteOf(target, method),
    service: request.service,
    options: request.options,
    skipsInSilence: request.skipsInSilence,
    returns: request.returns ?? returnShapeOf(request.decorator, target, method, original),
    key: createKeyResolver(request.key, target, method, innermost),
    original,
    wrapper: new Proxy(original, { apply: (_, instance, args: unknown[]) => callLeased(declaration, request, instance, args) }),
    invoke: (instance, args, lease) => Reflect.apply(original, instance, fillSlots(args, slots, lease)) as unknown,
    inPlace: () => descriptor.value as unknown,
  };
  return declaration;
}

function callLeased(declaration: LeaseDeclaration, { joins }: LeaseRequest, instance: unknown, args: readonly unknown[]): unknown {
  const { site, service, options, returns, key, invoke } = declaration;
  const executor = executorOf(instance, service);
  if (!executor) return failIn(returns, unboundError(site, service, instance));
  return executor.run({
    ...{ site, options, returns },
    key: (holds) => joins?.(holds) ?? key.resolve(args),
    invoke: (lease) => invoke(instance, args, lease),
  });
}

function copyMetadata(from: AnyMethod, to: AnyMethod): void {
  for (const key of Reflect.getOwnMetadataKeys(from) as unknown[]) Reflect.defineMetadata(key, Reflect.getOwnMetadata(key, from), to);
}
