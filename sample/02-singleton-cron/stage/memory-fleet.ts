import { NestFactory } from '@nestjs/core';
import type { INestApplicationContext } from '@nestjs/common';
import { MemoryLeaseStore } from 'nestjs-lease';
import { FaultyLeaseStore, type StoreVerb } from 'nestjs-lease/testing';
import { AppModule } from '../app/app.module.js';
import type { Fleet, Replica, Told } from './replica.js';
import { ShiftedClock } from './shifted-clock.js';

const VERBS: readonly StoreVerb[] = ['acquire', 'renew', 'release', 'leave', 'inspect', 'begin', 'finish', 'history'];

/** Three apps in this process that share one store. One app alone cannot be killed here: it never reaches the store again, and is not listened to. */
export class MemoryFleet implements Fleet {
  readonly description = 'Store: in memory, since REDIS_URL is not set. The replicas are three apps in this process.';
  private readonly store = new MemoryLeaseStore();
  private readonly apps: INestApplicationContext[] = [];

  async start(name: string, shiftMs: number, tell: (told: Told) => void): Promise<Replica> {
    const store = new FaultyLeaseStore(this.store);
    let alive = true;
    const told = (what: Told['what'], instant: number, fencingToken: number): void => {
      if (alive) tell({ what, instant, fencingToken });
    };
    const journal = {
      began: (instant: number, token: number) => told('began', instant, token),
      ended: (instant: number, token: number) => told('ended', instant, token),
    };
    const module = AppModule.forReplica({ store, clock: new ShiftedClock(shiftMs), journal });
    this.apps.push(await NestFactory.createApplicationContext(module, { logger: false }));
    return {
      name,
      shiftMs,
      kill: () => {
        alive = false;
        for (const verb of VERBS) store.dropRequest(verb, Infinity);
        return Promise.resolve();
      },
    };
  }

  async stop(): Promise<void> {
    await Promise.race([Promise.all(this.apps.map((app) => app.close())), new Promise((resolve) => setTimeout(resolve, 500))]);
  }
}
