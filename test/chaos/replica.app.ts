import 'reflect-metadata';
import { Inject, Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { CurrentLease, injected, Lease, LeaseModule, LeaseService, WithLease } from '../../lib/index.js';

// A Nest application in a process of its own, started by signals.spec.ts: it works under one lease until it is told to stop.

interface ReplicaSettings {
  readonly url: string;
  readonly ttl: string;
  /** `enableShutdownHooks()`. */
  readonly hooks: boolean;
  /** The handler ends when its signal aborts. */
  readonly obeys: boolean;
}

const settings = JSON.parse(process.argv[2] ?? '{}') as ReplicaSettings;
const tell = (type: string, more: object = {}): void => void process.send?.({ type, ...more });

@Injectable()
class Worker {
  @WithLease('work', { ttl: settings.ttl, wait: '30s' })
  async work(@CurrentLease() lease: Lease = injected()): Promise<void> {
    tell('working', { token: lease.fencingToken });
    const lost = await lease.lost;
    tell('aborted', { reason: lost.reason });
    if (!settings.obeys) await new Promise(() => undefined);
  }
}

@Module({
  imports: [LeaseModule.forRoot({ connection: settings.url, shutdownGrace: '300ms' })],
  providers: [Worker],
})
class ReplicaModule {
  constructor(
    @Inject(Worker) readonly worker: Worker,
    @Inject(LeaseService) readonly leases: LeaseService,
  ) {}
}

const app = await NestFactory.create(ReplicaModule, { logger: false });
if (settings.hooks) app.enableShutdownHooks();
await app.listen(0, '127.0.0.1');
tell('ready');
await app
  .get(ReplicaModule)
  .worker.work()
  .catch((error: unknown) => tell('ended', { code: (error as { code?: string }).code }));
