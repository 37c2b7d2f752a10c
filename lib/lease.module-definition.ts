import { ConfigurableModuleBuilder, type DynamicModule } from '@nestjs/common';
import { LeaseAppModule } from './lease-app.module.js';
import { checkText } from './lease-module-options-check.js';
import type { LeaseModuleOptions } from './lease-module-options.js';
import { DEFAULT_SERVICE } from './lease.constants.js';
import { GIVEN_OPTIONS, leaseExports, leaseProviders } from './lease.providers.js';

/** What stands beside the options, since the module's shape depends on it. */
export interface LeaseModuleExtras {
  /** The service can be injected everywhere, without an import in each module. Default: true. */
  isGlobal?: boolean | undefined;
  /** Name of the service when the application has several. Default: the default service. */
  name?: string | undefined;
}

/** Completes what Nest's builder has made of one registration. */
export function registration(definition: DynamicModule, { isGlobal = true, name = DEFAULT_SERVICE }: LeaseModuleExtras): DynamicModule {
  checkText('name', name);
  return {
    ...definition,
    global: isGlobal,
    imports: [...(definition.imports ?? []), LeaseAppModule],
    providers: [...(definition.providers ?? []), ...leaseProviders(name)],
    // With what exists once in the application: SingletonJobs can be injected wherever the service can.
    exports: [...leaseExports(name), LeaseAppModule],
  };
}

const defaults: LeaseModuleExtras = { isGlobal: true, name: undefined };

export const { ConfigurableModuleClass, ASYNC_OPTIONS_TYPE } = new ConfigurableModuleBuilder<LeaseModuleOptions>({
  moduleName: 'Lease',
  optionsInjectionToken: GIVEN_OPTIONS,
})
  .setClassMethodName('forRoot')
  .setFactoryMethodName('createLeaseOptions')
  .setExtras<LeaseModuleExtras>(defaults, registration)
  .build();
