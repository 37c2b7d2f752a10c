import 'reflect-metadata';
import type { ModulesContainer } from '@nestjs/core';
import { LeaseOptionsError } from '../errors/lease-options.error.js';
import { DEFAULT_SERVICE, getLeaseExecutorToken } from '../lease.constants.js';
import type { LeaseExecutorPort } from '../metadata/leased-call.js';
import type { Wrapper } from './wrappers.js';

/** The executors of one application, by the name of their service. */
export type Executors = ReadonlyMap<string, LeaseExecutorPort>;

type ModuleRef = NonNullable<ReturnType<ModulesContainer['get']>>;

interface Registration {
  readonly service: string;
  readonly module: ModuleRef;
  readonly executor: Wrapper;
}

/** The executors that the modules of this application registered. */
export function registeredExecutors(modules: ModulesContainer): Executors {
  return new Map([...registrations(modules)].map(({ service, executor }) => [service, executor.instance as LeaseExecutorPort]));
}

/** One error for each service name that is registered twice in one application, naming both places. */
export function findDuplicateRegistrations(modules: ModulesContainer): LeaseOptionsError[] {
  const byService = new Map<string, ModuleRef[]>();
  for (const { service, module } of registrations(modules)) byService.set(service, [...(byService.get(service) ?? []), module]);
  return [...byService]
    .filter(([, found]) => found.length > 1)
    .map(([service, found]) => duplicate(service, placesOf(service, found, modules)));
}

function* registrations(modules: ModulesContainer): Generator<Registration> {
  for (const module of modules.values()) {
    for (const [token, executor] of module.providers) {
      const service = typeof token === 'string' ? serviceOf(token) : undefined;
      if (service !== undefined) yield { service, module, executor };
    }
  }
}

function serviceOf(token: string): string | undefined {
  const base = getLeaseExecutorToken();
  if (token === base) return DEFAULT_SERVICE;
  return token.startsWith(`${base}:`) ? token.slice(base.length + 1) : undefined;
}

/**
 * Where they were imported. Two registrations have the same class, and Nest adds a global module to the imports of every module, so
 * it is asked of the `imports` that the classes declare.
 */
function placesOf(service: string, found: readonly ModuleRef[], modules: ModulesContainer): string[] {
  const token = getLeaseExecutorToken(service);
  const places = [...modules.values()].flatMap(({ name, metatype }) => {
    const imports = (Reflect.getMetadata('imports', metatype) as unknown[] | undefined) ?? [];
    return imports.filter((entry) => provides(entry, token)).map(() => name);
  });
  return places.length >= found.length ? places : found.map(({ name }) => name);
}

function provides(dynamicModule: unknown, token: string): boolean {
  const providers =
    typeof dynamicModule === 'object' && dynamicModule !== null && 'providers' in dynamicModule ? dynamicModule.providers : undefined;
  return (
    Array.isArray(providers) &&
    providers.some(
      (provider: unknown) => typeof provider === 'object' && provider !== null && 'provide' in provider && provider.provide === token,
    )
  );
}

function duplicate(service: string, places: readonly string[]): LeaseOptionsError {
  const which = service === DEFAULT_SERVICE ? 'The lease service without a name' : `The lease service "${service}"`;
  return new LeaseOptionsError(
    'name',
    `${which} is registered ${String(places.length)} times in this application, by the imports of ${places.join(' and ')}. ` +
      'Register it once (it is global by default), or give each further one another { name }.',
  );
}
