import { Controller, DefaultValuePipe, Get, Param, ParseFloatPipe, Post, Query } from '@nestjs/common';
import { CurrentLease, Lease, leaseKey, LeaseService, WithLease } from 'nestjs-lease';
import { JobsService, type JobResult } from './jobs.service.js';

@Controller('jobs')
export class JobsController {
  constructor(
    private readonly jobs: JobsService,
    private readonly leases: LeaseService,
  ) {}

  /** One run of a job at a time in the whole fleet. Who asks meanwhile is answered 409 with Retry-After. */
  @Post(':id/run')
  @WithLease('job:<id>', { ttl: 60 })
  run(
    @Param('id') id: string,
    @Query('seconds', new DefaultValuePipe(3), ParseFloatPipe) seconds: number,
    @CurrentLease() lease: Lease,
  ): Promise<JobResult> {
    return this.jobs.run(id, seconds, lease);
  }

  /** The same, but the caller waits for its turn. The ttl is short: after a crash they wait for as long as that. */
  @Post(':id/wait-and-run')
  @WithLease('job:<id>', { ttl: 2, wait: 10 })
  waitAndRun(
    @Param('id') id: string,
    @Query('seconds', new DefaultValuePipe(3), ParseFloatPipe) seconds: number,
    @CurrentLease() lease: Lease,
  ): Promise<JobResult> {
    return this.jobs.run(id, seconds, lease);
  }

  /** Who runs the job now. */
  @Get(':id')
  async show(@Param('id') id: string): Promise<object> {
    const record = await this.leases.inspect(leaseKey('job:<id>', { id }));
    return record ?? { state: 'free' };
  }
}
