import type { DiscoveryService, ModulesContainer } from '@nestjs/core';

/** What Nest knows of one provider, controller or enhancer. */
export type Wrapper = ReturnType<DiscoveryService['getProviders']>[number];

/** Everything in the application that may have leased methods: providers, controllers, guards, pipes, interceptors, middleware. */
export function* audited(modules: ModulesContainer): Generator<Wrapper> {
  for (const module of modules.values()) {
    yield* module.providers.values();
    yield* module.controllers.values();
    yield* module.injectables.values();
    yield* module.middlewares.values();
  }
}

/** The instances that exist at start-up: none of a request-scoped provider, one for each inquirer of a transient one. */
export function instancesOf(wrapper: Wrapper): object[] {
  const candidates: unknown[] = wrapper.isTransient ? wrapper.getStaticTransientInstances().map((host) => host?.instance as unknown) : [];
  if (wrapper.isDependencyTreeStatic()) candidates.push(wrapper.instance);
  return candidates.filter(isObject);
}

/** The prototypes to audit: of the class itself, so that request-scoped ones count, and of what a factory or a value gave. */
export function prototypesOf(wrapper: Wrapper): Set<object> {
  const found = new Set<object>();
  const metatype: unknown = wrapper.metatype;
  if (!wrapper.isNotMetatype && typeof metatype === 'function' && isObject(metatype.prototype)) found.add(metatype.prototype);
  for (const instance of instancesOf(wrapper)) {
    const prototype: unknown = Object.getPrototypeOf(instance);
    if (isObject(prototype) && prototype !== Object.prototype) found.add(prototype);
  }
  return found;
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;
