import 'reflect-metadata';
import { isUsableName, sourceParameters } from './parameter-names.js';
import { keyPartsOf, slotsOf } from './parameter-slots.js';
import type { AnyMethod } from './member.js';

/** What is known of one parameter of a leased method. */
export interface Parameter {
  readonly index: number;
  /** Name in the source, of two or more letters. */
  readonly sourceName: string | undefined;
  /** Name given by `@LeaseKey`. */
  readonly keyName: string | undefined;
  /** Property named by a route, query, body, payload or argument decorator: `@Param('id')`. */
  readonly property: string | undefined;
  /** Filled by us. */
  readonly injected: boolean;
  /** Passed by the caller for the caller's own purpose: neither injected by us nor `@Req()`, `@Res()`, `@Ctx()`, a custom decorator and the like. */
  readonly own: boolean;
  readonly rest: boolean;
}

/** The parameters of a method, and whether there may be more than can be seen (a rest parameter, no source, no type metadata). */
export interface ParameterList {
  readonly parameters: readonly Parameter[];
  readonly open: boolean;
}

/** `@nestjs/common` keeps decorated parameters under this key on the class, by method name; so do microservices, websockets and graphql. */
const ROUTE_ARGS_METADATA = '__routeArguments__';
/** Body (and payload, and GraphQL arguments), query, route parameter: the same numbers in Nest 11 and 12. */
const VALUE_TYPES: ReadonlySet<string> = new Set(['3', '4', '5']);

interface RouteArgument {
  readonly index: number;
  readonly data?: unknown;
}

/** Looks at a method from all sides: our own marks, Nest's parameter decorators, the compiler's types and the source. */
export function parametersOf(target: object, method: string | symbol, original: AnyMethod): ParameterList {
  const slots = slotsOf(target, method);
  const keyParts = keyPartsOf(target, method);
  const decorated = routeArguments(target, method);
  const source = sourceParameters(original);
  const typed = (Reflect.getOwnMetadata('design:paramtypes', target, method) as unknown[] | undefined)?.length;
  // A decorator below may have left a `(...args)` in place of the method: then only the types tell how many there are.
  const names = typed === undefined || typed === source?.length ? source : undefined;
  const count = Math.max(
    typed ?? names?.length ?? original.length,
    ...[...slots.keys(), ...keyParts.keys(), ...decorated.keys()].map((i) => i + 1),
  );
  const parameters = Array.from({ length: count }, (_, index): Parameter => {
    const sourceName = names?.[index]?.name;
    const argument = decorated.get(index);
    const injected = slots.has(index);
    return {
      index,
      sourceName: isUsableName(sourceName) ? sourceName : undefined,
      keyName: keyParts.get(index),
      property: argument?.property,
      injected,
      own: !injected && (argument?.value ?? true),
      rest: names?.[index]?.rest ?? false,
    };
  });
  return { parameters, open: typed === undefined && (source === undefined || source.some(({ rest }) => rest)) };
}

interface Decorated {
  /** All decorators of the parameter give a value of the request itself. */
  readonly value: boolean;
  readonly property: string | undefined;
}

function routeArguments(target: object, method: string | symbol): ReadonlyMap<number, Decorated> {
  const found = new Map<number, Decorated>();
  const metadata: unknown = Reflect.getMetadata(ROUTE_ARGS_METADATA, target.constructor, method);
  if (typeof metadata !== 'object' || metadata === null) return found;
  for (const [key, { index, data }] of Object.entries(metadata as Record<string, RouteArgument>)) {
    const value = VALUE_TYPES.has(key.slice(0, key.lastIndexOf(':')));
    const before = found.get(index);
    found.set(index, {
      value: value && (before?.value ?? true),
      property: value && typeof data === 'string' && data !== '' ? data : before?.property,
    });
  }
  return found;
}
