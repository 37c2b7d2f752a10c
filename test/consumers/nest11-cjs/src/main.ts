import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Redis } from 'ioredis';
import { isLeaseError, LeaseModule, LeaseService } from 'nestjs-lease';
import { ManualClock } from 'nestjs-lease/testing';
import { AppModule } from './app.js';

async function overHttp(): Promise<unknown> {
  const app = await NestFactory.create(AppModule, { logger: ['error'] });
  await app.listen(0, '127.0.0.1');
  const response = await fetch(`${await app.getUrl()}/jobs/7/run`, { method: 'POST' });
  const answer: unknown = await response.json();
  await app.close();
  return answer;
}

async function overRedis(url: string): Promise<unknown> {
  const client = new Redis(url);
  @Module({ imports: [LeaseModule.forRoot({ connection: client })] })
  class RedisModule {}
  const app = await NestFactory.createApplicationContext(RedisModule, { logger: ['error'] });
  const leases = app.get(LeaseService);
  const result = await leases.withLease('thread:7', { ttl: 30 }, async (lease) => {
    const refusal: unknown = await leases.acquire('thread:7').catch((error: unknown) => error);
    return { tokenIsNumber: Number.isSafeInteger(lease.fencingToken), busy: isLeaseError(refusal, 'LEASE_BUSY') };
  });
  await app.close();
  await client.quit();
  return result;
}

async function main(): Promise<void> {
  const url = process.env['REDIS_URL'];
  if (!url) throw new Error('REDIS_URL is missing');
  const clock = new ManualClock();
  const before = clock.monotonic();
  await clock.advance(5);
  console.log(JSON.stringify({ http: await overHttp(), redis: await overRedis(url), clock: clock.monotonic() - before }));
}

void main();
