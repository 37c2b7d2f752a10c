import { afterEach, describe, expect, it } from '@jest/globals';
import { Controller, Get, Injectable, Param, type INestApplication } from '@nestjs/common';
import { CurrentLease, FencingToken, injected, Lease, LeaseModule, LeaseService, MemoryLeaseStore, WithLease } from '../../../lib/index.js';
import { startNest, type NestApp } from '../../support/nest-app.js';

@Injectable()
class Reports {
  @WithLease('account:<id>', { ttl: '10s' })
  async settle(id: string, @FencingToken() token: number = injected()): Promise<string> {
    return `${id}:${String(token > 0)}`;
  }
}

@Controller('jobs')
class Jobs {
  constructor(private readonly reports: Reports) {}

  @Get(':id')
  @WithLease('job:<id>', { ttl: 60 })
  async run(@Param('id') id: string, @CurrentLease() lease: Lease): Promise<object> {
    return { key: lease.key, report: await this.reports.settle(id) };
  }
}

describe('an application with LeaseModule', () => {
  let booted: NestApp | undefined;
  const boot = async (...args: Parameters<typeof startNest>): Promise<INestApplication> => (booted = await startNest(...args)).app;

  afterEach(async () => {
    await booted?.app.close();
    booted = undefined;
  });

  it('runs a decorated controller and provider under their leases', async () => {
    await boot({ imports: [LeaseModule.forRoot({ store: new MemoryLeaseStore() })], controllers: [Jobs], providers: [Reports] });
    const answer = await fetch(`${booted?.url ?? ''}/jobs/7`);
    expect(await answer.json()).toEqual({ key: 'job:7', report: '7:true' });
  });

  it('answers 409 with Retry-After while the key is held', async () => {
    const app = await boot({
      imports: [LeaseModule.forRoot({ store: new MemoryLeaseStore() })],
      controllers: [Jobs],
      providers: [Reports],
    });
    await using _lease = await app.get(LeaseService).acquire('job:7', { ttl: 60 });
    const answer = await fetch(`${booted?.url ?? ''}/jobs/7`);
    expect(answer.status).toBe(409);
    expect(answer.headers.get('retry-after')).toBe('60');
  });
});
