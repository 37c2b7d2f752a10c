import { Module, type DynamicModule } from '@nestjs/common';
import { LeaseModule, type LeaseModuleOptions } from 'nestjs-lease';
import { DATABASE, type Database } from './database.js';
import { OrdersService } from './orders.service.js';

/** What differs from worker to worker. */
export interface WorkerOptions {
  readonly lease: LeaseModuleOptions;
  readonly database: Database;
}

/** One worker that ships orders. */
@Module({})
export class OrdersModule {
  static forWorker({ lease, database }: WorkerOptions): DynamicModule {
    return {
      module: OrdersModule,
      imports: [LeaseModule.forRoot({ connectOnStart: true, ...lease })],
      providers: [OrdersService, { provide: DATABASE, useValue: database }],
    };
  }
}
