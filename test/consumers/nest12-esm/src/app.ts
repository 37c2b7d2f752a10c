import { Controller, Injectable, Module, Param, Post } from '@nestjs/common';
import { CurrentLease, FencingToken, injected, Lease, LeaseModule, LeaseService, MemoryLeaseStore, WithLease } from 'nestjs-lease';

@Injectable()
export class Reports {
  constructor(readonly leases: LeaseService) {}

  @WithLease('report:<id>', { ttl: '10s', wait: 5 })
  async write(id: string, @FencingToken() token: number = injected()): Promise<string> {
    return `${id}:${typeof token}`;
  }
}

@Controller('jobs')
export class JobsController {
  constructor(private readonly reports: Reports) {}

  @Post(':id/run')
  @WithLease('job:<id>', { ttl: 60 })
  async run(@Param('id') id: string, @FencingToken() token: number, @CurrentLease() lease: Lease): Promise<object> {
    return {
      id,
      key: lease.key,
      same: token === lease.fencingToken,
      isLease: lease instanceof Lease,
      report: await this.reports.write(id),
    };
  }
}

@Module({
  imports: [LeaseModule.forRoot({ store: new MemoryLeaseStore() })],
  controllers: [JobsController],
  providers: [Reports],
})
export class AppModule {}
