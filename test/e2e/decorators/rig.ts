import type { INestApplication, ModuleMetadata } from '@nestjs/common';
import { LeaseEvents, LeaseModule, MemoryLeaseStore } from '../../../lib/index.js';
import { startNest, type NestAppOptions } from '../../support/nest-app.js';

/** An application with leases in memory, and the keys that it acquired. */
export interface LeaseApp {
  readonly app: INestApplication;
  readonly url: string;
  readonly keys: string[];
  [Symbol.asyncDispose](): Promise<void>;
}

/** Boots an application with `LeaseModule`; `await using` closes it. */
export async function startLeases(metadata: ModuleMetadata, options: NestAppOptions = {}): Promise<LeaseApp> {
  const imports = [LeaseModule.forRoot({ store: new MemoryLeaseStore() }), ...(metadata.imports ?? [])];
  const { app, url } = await startNest({ ...metadata, imports }, options);
  return { app, url, keys: acquiredKeys(app), [Symbol.asyncDispose]: () => app.close() };
}

/** The keys that are acquired from now on, as they come. */
export function acquiredKeys(app: INestApplication): string[] {
  const keys: string[] = [];
  app.get(LeaseEvents).on('acquired', ({ key }) => {
    keys.push(key);
  });
  return keys;
}
