import type { INestApplication, INestApplicationContext, ModuleMetadata } from '@nestjs/common';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { Test, type TestingModuleBuilder } from '@nestjs/testing';
import { LEASE_STORE, type LeaseStore } from '../../lib/index.js';

export interface NestAppOptions {
  readonly adapter?: 'express' | 'fastify';
  /** Changes the application before it is compiled, for example by overriding a provider. */
  readonly prepare?: (builder: TestingModuleBuilder) => unknown;
  /** Listens on a free port. Default: true. */
  readonly listen?: boolean;
  /** Of Nest; default: silent. */
  readonly logger?: CapturedLog;
}

/** A booted application and where it listens. */
export interface NestApp {
  readonly app: INestApplication;
  readonly url: string;
}

/** Boots a Nest application with these imports, controllers and providers. */
export async function startNest(metadata: ModuleMetadata, options: NestAppOptions = {}): Promise<NestApp> {
  const { adapter = 'express', prepare, listen = true, logger } = options;
  const builder = Test.createTestingModule(metadata);
  builder.setLogger(logger ?? new CapturedLog());
  prepare?.(builder);
  const module = await builder.compile();
  const app = adapter === 'fastify' ? module.createNestApplication(new FastifyAdapter()) : module.createNestApplication();
  try {
    if (!listen) {
      await app.init();
      return { app, url: '' };
    }
    await app.listen(0, '127.0.0.1');
    return { app, url: await app.getUrl() };
  } catch (error) {
    await closeFailed(app);
    throw error;
  }
}

/**
 * Closes an application whose start-up failed. NestJS 11 runs no hook of it: `close()` rejects with the error of the start-up again,
 * and whoever goes on afterwards closes the store.
 */
export async function closeFailed(app: INestApplicationContext): Promise<void> {
  try {
    await app.close();
  } catch {
    await app.get<LeaseStore>(LEASE_STORE, { strict: false }).close();
  }
}

/** A logger that keeps what was said. */
export class CapturedLog {
  readonly lines: { readonly level: string; readonly text: string }[] = [];

  log = (message: unknown): void => this.keep('log', message);
  warn = (message: unknown): void => this.keep('warn', message);
  error = (message: unknown): void => this.keep('error', message);
  debug = (message: unknown): void => this.keep('debug', message);
  verbose = (message: unknown): void => this.keep('verbose', message);
  fatal = (message: unknown): void => this.keep('fatal', message);

  of(level: string): string[] {
    return this.lines.filter((line) => line.level === level).map((line) => line.text);
  }

  private keep(level: string, message: unknown): void {
    this.lines.push({ level, text: String(message) });
  }
}

/** A promise that is settled from outside. */
export function deferred<T = void>(): { promise: Promise<T>; resolve: (value: T) => void; reject: (error: unknown) => void } {
  let resolve!: (value: T) => void;
  let reject!: (error: unknown) => void;
  const promise = new Promise<T>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}
