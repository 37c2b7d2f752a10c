import {
  Logger,
  type BeforeApplicationShutdown,
  type OnApplicationShutdown,
  type OnModuleDestroy,
  type OnModuleInit,
} from '@nestjs/common';
import { LeaseUnavailableError } from '../errors/lease-unavailable.error.js';
import type { LeaseEngine } from '../lease/lease-engine.js';
import { withTimeLimit } from '../lease/time-limit.js';
import type { LeaseRegistry } from './lease-registry.js';

/** One lease service of the application, as the module built it. */
export interface RegisteredService {
  readonly name: string;
  readonly namespace: string;
  readonly engine: LeaseEngine;
  readonly registry: LeaseRegistry;
  readonly connectOnStart: boolean;
  /** Logged at start-up. */
  readonly warnings: readonly string[];
}

/** The lease services of one application: started together, and drained together, since handlers of one may need another. */
export class LeaseServices implements OnModuleInit, OnModuleDestroy, BeforeApplicationShutdown, OnApplicationShutdown {
  private readonly services = new Set<RegisteredService>();
  private readonly logger = new Logger('Lease');

  add(service: RegisteredService): void {
    this.services.add(service);
    service.engine.store.onNotice?.((notice) => {
      if (notice.kind === 'warning') this.logger.warn(`Lease service "${service.name}": ${notice.message}`);
    });
  }

  /** @throws LeaseUnavailableError where `connectOnStart` asks for a store that cannot be asked */
  async onModuleInit(): Promise<void> {
    for (const service of this.services) this.announce(service);
    await Promise.all([...this.services].filter(({ connectOnStart }) => connectOnStart).map(connect));
  }

  /** No scheduled run is begun from here on. */
  onModuleDestroy(): void {
    for (const { registry } of this.services) registry.stop();
  }

  /** Waits for what runs while HTTP can still answer; nothing new is granted. */
  async beforeApplicationShutdown(): Promise<void> {
    const registries = [...this.services].map(({ registry }) => registry);
    const quiet = (): boolean => registries.every((registry) => registry.idle);
    await Promise.all(registries.map((registry) => registry.drain(quiet)));
  }

  /** Last of all, so that answers and releases still got through. */
  async onApplicationShutdown(): Promise<void> {
    await Promise.all([...this.services].map((service) => this.close(service)));
  }

  private announce({ name, namespace, engine, warnings }: RegisteredService): void {
    const shared = engine.store.capabilities.shared ? 'shared with every application of this namespace there' : 'within this process only';
    this.logger.log(`Lease service "${name}": store ${engine.store.capabilities.name}, namespace "${namespace}", ${shared}.`);
    for (const warning of warnings) this.logger.warn(warning);
  }

  private async close({ name, engine }: RegisteredService): Promise<void> {
    await engine.close();
    try {
      await withTimeLimit(engine.clock, engine.defaults.commandTimeoutMs, engine.store.close());
    } catch (error) {
      this.logger.warn(`The store of lease service "${name}" did not close: ${error instanceof Error ? error.message : String(error)}.`);
    }
  }
}

async function connect({ name, engine }: RegisteredService): Promise<void> {
  try {
    await withTimeLimit(engine.clock, engine.defaults.commandTimeoutMs, engine.store.ping());
  } catch (error) {
    await engine.store.close().catch(() => undefined);
    const why = error instanceof Error ? error.message : String(error);
    throw new LeaseUnavailableError(undefined, `the store of service "${name}" cannot be asked at start-up (connectOnStart): ${why}`, {
      cause: error,
    });
  }
}
