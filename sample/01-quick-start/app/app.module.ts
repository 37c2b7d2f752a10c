import { Module, type DynamicModule } from '@nestjs/common';
import { LeaseModule, type LeaseModuleOptions } from 'nestjs-lease';
import { JobsController } from './jobs.controller.js';
import { JobsService } from './jobs.service.js';
import { ResultsClient } from './results.client.js';

/** What differs from replica to replica. An application of your own needs `LeaseModule.forRoot({ connection: process.env.REDIS_URL })`, and no more. */
export interface ReplicaOptions {
  readonly lease: LeaseModuleOptions;
  readonly results: ResultsClient;
}

/** The job runner: one replica of it. */
@Module({})
export class AppModule {
  static forReplica({ lease, results }: ReplicaOptions): DynamicModule {
    return {
      module: AppModule,
      imports: [LeaseModule.forRoot({ connectOnStart: true, ...lease })],
      controllers: [JobsController],
      providers: [JobsService, { provide: ResultsClient, useValue: results }],
    };
  }
}
