import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { LeaseModule, LeaseService, MemoryLeaseStore } from 'nestjs-lease';
import assert from 'node:assert/strict';

const recorded: unknown[][] = [];
export const record = (...entry: [string, number, string]): void => void recorded.push(entry);

export async function check({ LeaseMetrics }: Record<string, any>): Promise<void> {
  @Module({ imports: [LeaseModule.forRoot({ store: new MemoryLeaseStore() })], providers: [LeaseMetrics] })
  class Root {}
  const app = await NestFactory.createApplicationContext(Root, { logger: false, abortOnError: false });
  const leases = app.get(LeaseService);
  await using lease = await leases.acquire('one', { ttl: '200ms' });
  assert.deepEqual(recorded.at(-1)?.[0], 'lease_wait_ms');
  await leases.forceRelease('one');
  await lease.lost;
  assert.deepEqual(recorded.at(-1), ['lease_lost', 1, 'one expired']);
  await app.close();
}
