import { Module, type DynamicModule } from '@nestjs/common';
import { ScheduleModule } from '@nestjs/schedule';
import type { Clock, LeaseStore } from 'nestjs-lease';
import { LeaseTestingModule } from 'nestjs-lease/testing';
import { JOURNAL, Reports, type Journal } from './reports.js';

/** What makes one replica differ from another. */
export interface ReplicaOptions {
  readonly store: LeaseStore;
  /** An application has no need of this: here it stands for the clock of another machine. Otherwise it is `LeaseModule.forRoot()`. */
  readonly clock: Clock;
  readonly journal: Journal;
}

@Module({})
export class AppModule {
  static forReplica({ store, clock, journal }: ReplicaOptions): DynamicModule {
    return {
      module: AppModule,
      imports: [LeaseTestingModule.forRoot({ store, clock }), ScheduleModule.forRoot()],
      providers: [Reports, { provide: JOURNAL, useValue: journal }],
    };
  }
}
