import { Module } from '@nestjs/common';
import { LeaseModule, LeaseService } from 'nestjs-lease';
import assert from 'node:assert/strict';

/** Nothing listens there: the test must not notice. */
@Module({ imports: [LeaseModule.forRoot({ connection: 'redis://127.0.0.1:1', connectOnStart: true })] })
export class AppModule {}

export async function check({ moduleRef }: Record<string, any>): Promise<void> {
  moduleRef.useLogger(false);
  await moduleRef.init();
  await using lease = await moduleRef.get(LeaseService).acquire('one');
  assert.equal(lease.key, 'one');
  await lease.release();
  await moduleRef.close();
}
