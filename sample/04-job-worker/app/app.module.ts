import { Module, type DynamicModule } from '@nestjs/common';
import { LeaseJobsModule, LeaseModule, type LeaseModuleOptions } from 'nestjs-lease';
import { JobBoard } from './job-board.js';
import { JobRunner } from './job-runner.js';
import { Renderer } from './renderer.js';

/** What differs from replica to replica. */
export interface ReplicaOptions {
  readonly lease: LeaseModuleOptions;
  readonly board: JobBoard;
  readonly renderer: Renderer;
}

/** One replica of the worker: two jobs at a time. The ttl is short: after a crash its jobs wait for as long as that. */
@Module({})
export class AppModule {
  static forReplica({ lease, board, renderer }: ReplicaOptions): DynamicModule {
    return {
      module: AppModule,
      imports: [
        LeaseModule.forRoot({ connectOnStart: true, ...lease }),
        LeaseJobsModule.forFeature({ keyOf: (id) => `video:${id}`, ttl: 1, concurrency: 2 }),
      ],
      providers: [JobRunner, { provide: JobBoard, useValue: board }, { provide: Renderer, useValue: renderer }],
    };
  }
}
