import { NestFactory } from '@nestjs/core';
import type { LeaseModuleOptions } from 'nestjs-lease';
import type { Database } from '../app/database.js';
import { OrdersModule } from '../app/orders.module.js';
import { OrdersService } from '../app/orders.service.js';
import { FreezingDatabase } from './freezing-database.js';

/** One worker, as the scenes see and mistreat it. */
export interface Worker {
  readonly name: string;
  ship(id: string): Promise<number>;
  shipUnchecked(id: string): Promise<number>;
  /** Its next write stops just before it leaves: the worst moment. */
  freezeAtNextWrite(): Promise<void>;
  /** Resolves when it stands still, after `freezeAtNextWrite`. */
  frozen(): Promise<void>;
  resume(): void;
}

/** What a worker can be told to do, in whatever process it lives. */
export interface WorkerApp {
  ship(id: string): Promise<number>;
  shipUnchecked(id: string): Promise<number>;
  arm(): void;
}

/** Boots the application of one worker. */
export async function bootWorker(
  name: string,
  lease: LeaseModuleOptions,
  database: Database,
  freeze: () => Promise<void>,
): Promise<WorkerApp> {
  const freezing = new FreezingDatabase(database, freeze);
  const module = OrdersModule.forWorker({ lease: { holder: name, ...lease }, database: freezing });
  const app = await NestFactory.createApplicationContext(module, { logger: ['fatal'], abortOnError: false });
  const orders = app.get(OrdersService);
  return { ship: (id) => orders.ship(id, name), shipUnchecked: (id) => orders.shipUnchecked(id, name), arm: () => freezing.arm() };
}
