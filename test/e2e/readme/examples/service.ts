import { NestFactory } from '@nestjs/core';
import { Module } from '@nestjs/common';
import { LeaseModule, LeaseService } from 'nestjs-lease';
import assert from 'node:assert/strict';

const stored: unknown[][] = [];
const compressed: string[] = [];
export const pages = ['a', 'b'];
export const compress = (page: string): void => void compressed.push(page);
export const store = (...row: [string, string, number]): string => {
  stored.push(row);
  return row[1];
};

export async function check({ Threads }: Record<string, any>): Promise<void> {
  @Module({ imports: [LeaseModule.forRoot({ connection: process.env.README_REDIS_URL, holder: 'worker-1' })], providers: [Threads] })
  class AppModule {}
  const app = await NestFactory.createApplicationContext(AppModule, { logger: false, abortOnError: false });
  const threads = app.get(Threads);
  const leases = app.get(LeaseService);

  assert.equal(await threads.append('7', 'hello'), 'hello');
  assert.ok(Number(stored[0]?.[2]) > 0);
  assert.equal(await leases.inspect('thread:7'), undefined);

  assert.equal(await threads.compact('7'), 'done');
  assert.deepEqual(compressed, pages);
  assert.equal(await leases.inspect('thread:7'), undefined);

  const held = await leases.acquire('thread:7');
  assert.equal(await threads.compact('7'), 'somebody else is at it');
  assert.equal(await threads.unblock('7'), 'worker-1');
  assert.equal(await leases.inspect('thread:7'), undefined);
  await held.release();
  await app.close();
}
