import { Injectable } from '@nestjs/common';
import { setTimeout as work } from 'node:timers/promises';
import type { Lease } from 'nestjs-lease';
import { ResultsClient } from './results.client.js';

export interface JobResult {
  readonly job: string;
  readonly fencingToken: number;
}

@Injectable()
export class JobsService {
  constructor(private readonly results: ResultsClient) {}

  async run(id: string, seconds: number, lease: Lease): Promise<JobResult> {
    // Give the signal to all work that takes one: it ends when the lease is lost.
    await work(seconds * 1000, undefined, { signal: lease.signal });
    // Costs nothing, and stops stale work here in nearly every case.
    lease.assertHeld();
    // A pause may still fall between the check and the write. So the write carries the fencing token, and the table checks it.
    await this.results.save(id, `job ${id} is done`, lease);
    return { job: id, fencingToken: lease.fencingToken };
  }
}
