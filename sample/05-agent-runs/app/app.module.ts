import { Module, type DynamicModule } from '@nestjs/common';
import { LeaseModule, type LeaseModuleOptions } from 'nestjs-lease';
import { AgentService } from './agent.service.js';
import { Model, Tools } from './outside.js';

/** What differs from replica to replica. */
export interface ReplicaOptions {
  readonly lease: LeaseModuleOptions;
  readonly model: Model;
  readonly tools: Tools;
}

/** One replica that runs agents. */
@Module({})
export class AppModule {
  static forReplica({ lease, model, tools }: ReplicaOptions): DynamicModule {
    return {
      module: AppModule,
      imports: [LeaseModule.forRoot({ connectOnStart: true, ...lease })],
      providers: [AgentService, { provide: Model, useValue: model }, { provide: Tools, useValue: tools }],
    };
  }
}
