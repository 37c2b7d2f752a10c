import { Module } from '@nestjs/common';
import { CronExplorer } from './cron.explorer.js';
import { SingletonJobs } from './singleton-jobs.js';

/** The scheduled jobs of an application, once, however many lease services it has. Imported by `LeaseModule`, not by users. */
@Module({ providers: [SingletonJobs, CronExplorer], exports: [SingletonJobs] })
export class LeaseCronModule {}
