import { Module, type DynamicModule } from '@nestjs/common';
import { LeaseOptionsError } from './errors/lease-options.error.js';
import type { LeaseModuleOptions } from './lease-module-options.js';
import { ConfigurableModuleClass, type ASYNC_OPTIONS_TYPE, type LeaseModuleExtras } from './lease.module-definition.js';

/** Options of `LeaseModule.forRootAsync()`: where the options come from, and `name` and `isGlobal` beside them. */
export type LeaseModuleAsyncOptions = typeof ASYNC_OPTIONS_TYPE;

/**
 * Leases for a Nest application. Import it once, in the root module; a second registration needs another `name`.
 *
 * ```ts
 * LeaseModule.forRoot({ connection: 'redis://127.0.0.1:6379', ttl: 60 })
 * LeaseModule.forRootAsync({ inject: [ConfigService], useFactory: (config) => ({ connection: config.getOrThrow('REDIS_URL') }) })
 * ```
 */
@Module({})
export class LeaseModule extends ConfigurableModuleClass {
  /** Registers a lease service; without options, with Redis on 127.0.0.1. Mistakes in the options fail the start-up with a `LeaseOptionsError`. */
  static override forRoot(options: LeaseModuleOptions & LeaseModuleExtras = {}): DynamicModule {
    return super.forRoot(options);
  }

  /**
   * As `forRoot`, with options from a factory, a class, or a provider that exists.
   * @throws LeaseOptionsError unless exactly one of `useFactory`, `useClass` and `useExisting` is there
   */
  static override forRootAsync(options: LeaseModuleAsyncOptions): DynamicModule {
    const given = options as Partial<Record<string, unknown>> | undefined;
    const sources = ['useFactory', 'useClass', 'useExisting'].filter((source) => typeof given?.[source] === 'function' || given?.[source]);
    if (sources.length === 1) return super.forRootAsync(options);
    const found = sources.length === 0 ? 'has none' : `has ${sources.join(' and ')}`;
    throw new LeaseOptionsError(
      'forRootAsync',
      `LeaseModule.forRootAsync() needs one source of its options, and ${found}: give useFactory, useClass or useExisting (or call forRoot()).`,
    );
  }
}
