import { Global, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { LeaseService } from 'nestjs-lease';
import assert from 'node:assert/strict';

export class Settings {
  readonly redisUrl = process.env.README_REDIS_URL;
}

@Global()
@Module({ providers: [Settings], exports: [Settings] })
class SettingsModule {}

export async function check({ AppModule }: Record<string, any>): Promise<void> {
  @Module({ imports: [SettingsModule, AppModule] })
  class Root {}
  const app = await NestFactory.createApplicationContext(Root, { logger: false, abortOnError: false });
  await using lease = await app.get(LeaseService).acquire('one');
  assert.ok(lease.fencingToken > 0);
  await lease.release();
  await app.close();
}
