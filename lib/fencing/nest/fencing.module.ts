import { Module, type DynamicModule, type InjectionToken, type ModuleMetadata, type OptionalFactoryDependency } from '@nestjs/common';
import { LeaseOptionsError } from '../../errors/lease-options.error.js';
import type { FencingGuard } from '../fencing-guard.js';
import { FENCING_GUARD } from './fencing.constants.js';

/** What the module provides. */
export interface FencingModuleOptions {
  /** Where accepted tokens are remembered: `SqlFencingGuard`, `RedisFencingGuard`, one of your own, or `MemoryFencingGuard` in tests. */
  readonly guard: FencingGuard;
  /** Every module may inject it without importing this one. Default true. */
  readonly isGlobal?: boolean | undefined;
}

/** The same, from a factory. */
export interface FencingModuleAsyncOptions extends Pick<ModuleMetadata, 'imports'> {
  readonly inject?: (InjectionToken | OptionalFactoryDependency)[] | undefined;
  readonly useFactory: (...args: never[]) => FencingGuard | Promise<FencingGuard>;
  /** See `FencingModuleOptions`. */
  readonly isGlobal?: boolean | undefined;
}

/** Makes a `FencingGuard` injectable as `FENCING_GUARD`, for `@FencedRequest` and for your own providers. */
@Module({})
export class FencingModule {
  /** @throws LeaseOptionsError without a guard */
  static forRoot(options: FencingModuleOptions): DynamicModule {
    return FencingModule.forRootAsync({ isGlobal: options.isGlobal, useFactory: () => checked(options.guard) });
  }

  /** The start-up fails with a `LeaseOptionsError` when the factory gives no guard. */
  static forRootAsync(options: FencingModuleAsyncOptions): DynamicModule {
    const { imports = [], inject = [], useFactory, isGlobal = true } = options;
    const make = async (...args: never[]): Promise<FencingGuard> => checked(await useFactory(...args));
    return {
      module: FencingModule,
      global: isGlobal,
      imports,
      providers: [{ provide: FENCING_GUARD, inject, useFactory: make }],
      exports: [FENCING_GUARD],
    };
  }
}

function checked(guard: FencingGuard | undefined): FencingGuard {
  if (typeof guard?.accept === 'function') return guard;
  throw new LeaseOptionsError(
    'guard',
    'FencingModule needs a guard with accept(resource, token, holderTag), for example new SqlFencingGuard(pool).',
  );
}
