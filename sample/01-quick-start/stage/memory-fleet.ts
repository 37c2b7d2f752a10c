import type { INestApplication } from '@nestjs/common';
import type { Server } from 'node:http';
import { MemoryLeaseStore } from 'nestjs-lease';
import { FaultyLeaseStore, type StoreVerb } from 'nestjs-lease/testing';
import { AppModule } from '../app/app.module.js';
import { FreezingResultsClient } from './freezing-results.client.js';
import { listen } from './listen.js';
import type { Fleet, Replica } from './replica.js';

const VERBS: readonly StoreVerb[] = ['acquire', 'renew', 'release', 'leave', 'inspect'];

/**
 * Three apps in this process that share one store. One app alone cannot be stopped here, so "frozen" is played: its calls to the
 * store and its write get no further until it is resumed. Its clock goes on, which a really frozen process does not notice either.
 */
export class MemoryFleet implements Fleet {
  readonly description = 'Store: in memory, since REDIS_URL is not set. The replicas are three apps in this process.';
  readonly freezing = 'its calls to the store and its write hang';
  readonly crashing = 'its connections break and it never calls the store again';
  private readonly store = new MemoryLeaseStore();
  private readonly apps = new Set<INestApplication>();

  constructor(private readonly tableUrl: string) {}

  async start(name: string, port: number): Promise<Replica> {
    const store = new FaultyLeaseStore(this.store);
    const pause = new Pause(() => cut(store));
    const results = new FreezingResultsClient(this.tableUrl, () => pause.begin());
    const { app, url } = await listen(AppModule.forReplica({ lease: { store, holder: name }, results }), port);
    this.apps.add(app);
    return {
      name,
      url,
      freezeAtNextWrite: () => {
        results.arm();
        return Promise.resolve();
      },
      frozen: () => pause.begun,
      resume: () => {
        store.heal();
        pause.end();
      },
      crash: () => this.crash(app, store),
    };
  }

  async stop(): Promise<void> {
    await Promise.all([...this.apps].map((app) => app.close()));
  }

  private crash(app: INestApplication, store: FaultyLeaseStore): Promise<void> {
    this.apps.delete(app);
    cut(store);
    const server = app.getHttpServer() as Server;
    return new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  }
}

/** From now on no call to the store arrives. */
function cut(store: FaultyLeaseStore): void {
  for (const verb of VERBS) store.dropRequest(verb, Infinity);
}

/** Holds one caller up until it is told to go on. */
class Pause {
  begun: Promise<void>;
  private tellBegun!: () => void;
  private goOn!: () => void;

  constructor(private readonly atBegin: () => void) {
    this.begun = new Promise((resolve) => (this.tellBegun = resolve));
  }

  begin(): Promise<void> {
    this.atBegin();
    this.tellBegun();
    return new Promise((resolve) => (this.goOn = resolve));
  }

  end(): void {
    this.goOn();
  }
}
