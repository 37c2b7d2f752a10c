import { Inject, Injectable } from '@nestjs/common';
import { CurrentLease, injected, Lease, LeaseService, SingletonCron } from 'nestjs-lease';
import { setTimeout as sleep } from 'node:timers/promises';

/** Where the runs of a replica are told. */
export const JOURNAL = 'journal';

/** What happens in a run: it began, or it has ended. */
export interface Journal {
  began(instant: number, fencingToken: number): void;
  ended(instant: number, fencingToken: number): void;
}

const NAME = 'every-second-report';

/** The job: every replica has it, and each second one of them runs it. */
@Injectable()
export class Reports {
  constructor(
    @Inject(LeaseService) private readonly leases: LeaseService,
    @Inject(JOURNAL) private readonly journal: Journal,
  ) {}

  @SingletonCron('* * * * * *', { name: NAME, ttl: '600ms', onCrash: 'rerun' })
  async everySecond(@CurrentLease() lease: Lease = injected()): Promise<void> {
    const [run] = await this.leases.cronHistory(NAME);
    const instant = run?.instant ?? 0;
    this.journal.began(instant, lease.fencingToken);
    await sleep(200, undefined, { signal: lease.signal });
    this.journal.ended(instant, lease.fencingToken);
  }
}
