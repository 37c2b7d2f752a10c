import { LeaseKeyError } from '../errors/lease-key.error.js';
import { LeaseOptionsError } from '../errors/lease-options.error.js';
import { parseKeyTemplate, readPath, renderKey, type KeyTemplate, type Placeholder } from './key-template.js';
import { siteOf, type AnyMethod } from './member.js';
import { parametersOf, type Parameter, type ParameterList } from './parameters.js';

/** Makes the key of one method from the arguments of a call. */
export interface KeyResolver {
  /** The names that the template asks for; `undefined` for a key function. */
  readonly names: ReadonlySet<string> | undefined;
  /**
   * Whether every placeholder can be filled by a parameter; asked at start-up.
   * @throws LeaseOptionsError
   */
  check(): void;
  /** @throws LeaseKeyError for a bad value, LeaseOptionsError when `check` would throw */
  resolve(args: readonly unknown[]): string;
}

/** Where a key comes from: a template, or a function of the caller's arguments. */
export type KeySource = string | ((...args: never[]) => string);

type Reader = (args: readonly unknown[]) => unknown;

/**
 * Reads the declaration of a key.
 * @throws LeaseOptionsError at decoration: a template that cannot be read, or a name that two decorated parameters share.
 */
export function createKeyResolver(source: unknown, target: object, method: string | symbol, original: AnyMethod): KeyResolver {
  if (typeof source === 'function') return functionKey(source as AnyMethod, siteOf(target, method));
  if (typeof source !== 'string') {
    throw new LeaseOptionsError(
      'key',
      `The key of ${siteOf(target, method)} is ${String(source)}: give a template such as 'job:<id>' or a function that returns a string.`,
    );
  }
  const template = parseKeyTemplate(source);
  const site = siteOf(target, method);
  let readers: ReadonlyMap<Placeholder, Reader> | undefined;
  const compiled = (): ReadonlyMap<Placeholder, Reader> => (readers ??= compile(template, parametersOf(target, method, original), site));
  // Parameter decorators have run by now, so a name that is ambiguous is found here, not at the first call.
  const { parameters } = parametersOf(target, method, original);
  for (const placeholder of template.placeholders) refuseAmbiguous(placeholder, parameters, site, template);
  return {
    names: new Set(template.placeholders.map(({ head }) => head)),
    check: () => void compiled(),
    resolve: (args) => renderKey(template, (placeholder) => compiled().get(placeholder)?.(args)),
  };
}

function functionKey(source: AnyMethod, site: string): KeyResolver {
  return {
    names: undefined,
    check: () => undefined,
    resolve: (args) => {
      const key = source(...args);
      if (typeof key === 'string' && key !== '') return key;
      const what = key === '' ? 'an empty string' : key === null ? 'null' : typeof key === 'object' ? 'an object' : typeof key;
      throw new LeaseKeyError(`The key function of ${site} returned ${what}: it must return a non-empty string, at once.`);
    },
  };
}

function compile(template: KeyTemplate, list: ParameterList, site: string): ReadonlyMap<Placeholder, Reader> {
  return new Map(
    template.placeholders.map((placeholder) => {
      refuseAmbiguous(placeholder, list.parameters, site, template);
      const reader = placeholder.position === undefined ? byName(placeholder, list) : byPosition(placeholder.position, placeholder, list);
      if (reader) return [placeholder, reader];
      throw unfillable(placeholder, site, template, list);
    }),
  );
}

function byPosition(position: number, placeholder: Placeholder, { parameters, open }: ParameterList): Reader | undefined {
  const parameter = parameters[position];
  if (parameter?.injected || (!parameter && !open)) return undefined;
  return (args) => readPath(args[position], placeholder.path);
}

function byName(placeholder: Placeholder, { parameters, open }: ParameterList): Reader | undefined {
  const { head, path } = placeholder;
  const named = parameters.find(({ keyName }) => keyName === head) ?? parameters.find(({ property, own }) => own && property === head);
  if (named) return (args) => readPath(args[named.index], path);
  const own = parameters.filter((parameter) => parameter.own);
  if (own.length === 1 && own[0] && !own[0].rest && !open) return ofOnlyParameter(own[0], placeholder);
  const bySource = parameters.find(({ sourceName, injected, rest }) => sourceName === head && !injected && !rest);
  return bySource && ((args) => readPath(args[bySource.index], path));
}

/** Its property of that name; itself when it is a primitive, or when the template begins a path with the parameter's own name. */
function ofOnlyParameter(parameter: Parameter, { head, path }: Placeholder): Reader {
  return (args) => {
    const value = args[parameter.index];
    if (typeof value !== 'object' || value === null) return path.length === 0 ? value : undefined;
    if (path.length > 0 && parameter.sourceName === head && !Object.hasOwn(value, head)) return readPath(value, path);
    return readPath(value, [head, ...path]);
  };
}

function refuseAmbiguous({ head, position }: Placeholder, parameters: readonly Parameter[], site: string, template: KeyTemplate): void {
  if (position !== undefined || parameters.some(({ keyName }) => keyName === head)) return;
  const both = parameters.filter(({ property, own }) => own && property === head);
  if (both.length < 2) return;
  const where = both.map(({ index }) => `<${String(index)}>`).join(' or ');
  throw new LeaseOptionsError(
    'key',
    `<${head}> of the key '${template.source}' of ${site} may be either of two parameters decorated with '${head}': mark one with @LeaseKey('${head}'), or write ${where}.`,
  );
}

function unfillable(
  { text, head, position }: Placeholder,
  site: string,
  template: KeyTemplate,
  { parameters }: ParameterList,
): LeaseOptionsError {
  const what = `<${text}> of the key '${template.source}' of ${site} cannot be filled`;
  if (position !== undefined) {
    const why = parameters[position]?.injected
      ? 'that parameter is injected by the lease itself'
      : `the method has ${String(parameters.length)} parameter(s)`;
    return new LeaseOptionsError('key', `${what}: ${why}. Write the position (from 0) of a parameter that the caller passes.`);
  }
  return new LeaseOptionsError(
    'key',
    `${what} by any parameter: mark the one that is meant with @LeaseKey('${head}'), or write its position, such as <0> or <0.id>.`,
  );
}
