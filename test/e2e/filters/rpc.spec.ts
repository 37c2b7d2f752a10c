import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Controller, UseFilters } from '@nestjs/common';
import { ClientProxyFactory, MessagePattern, Payload, Transport, type ClientProxy, type MicroserviceOptions } from '@nestjs/microservices';
import { Test } from '@nestjs/testing';
import type { INestMicroservice } from '@nestjs/common';
import { lastValueFrom } from 'rxjs';
import { LeaseModule, LeaseService, MemoryLeaseStore, WithLease } from '../../../lib/index.js';
import { LeaseRpcExceptionFilter } from '../../../lib/microservices/index.js';
import { CapturedLog } from '../../support/nest-app.js';
import { freePort } from '../../support/redis-server.js';

@Controller()
@UseFilters(LeaseRpcExceptionFilter)
class Jobs {
  @MessagePattern('run')
  @WithLease('job:<id>')
  async run(@Payload('id') id: string): Promise<string> {
    if (id === 'own') throw new Error('own error');
    return Promise.resolve(`ran ${id}`);
  }
}

describe('LeaseRpcExceptionFilter', () => {
  let app: INestMicroservice;
  let client: ClientProxy;
  const send = (id: string): Promise<unknown> => lastValueFrom(client.send('run', { id }));

  beforeAll(async () => {
    const options = { host: '127.0.0.1', port: await freePort() };
    const imports = [LeaseModule.forRoot({ store: new MemoryLeaseStore(), shutdownGrace: '50ms', holder: 'web-1' })];
    const module = await Test.createTestingModule({ imports, controllers: [Jobs] })
      .setLogger(new CapturedLog())
      .compile();
    app = module.createNestMicroservice<MicroserviceOptions>({ transport: Transport.TCP, options });
    await app.listen();
    client = ClientProxyFactory.create({ transport: Transport.TCP, options });
  });
  afterAll(async () => {
    await client.close();
    await app.close();
  });

  it('leaves a result as it is', async () => {
    expect(await send('1')).toBe('ran 1');
  });

  it('answers a busy lease with code and retryAfterMs, and neither key nor holder (Locker#19)', async () => {
    await using _lease = await app.get(LeaseService).acquire('job:1', { ttl: 5 });
    await expect(send('1')).rejects.toEqual({
      status: 'error',
      code: 'LEASE_BUSY',
      message: expect.not.stringMatching(/job:1|web-1/),
      retryAfterMs: expect.any(Number),
    });
  });

  it('answers a bad key with its code alone', async () => {
    await expect(send('')).rejects.toEqual({ status: 'error', code: 'LEASE_KEY_INVALID', message: expect.any(String) });
  });

  it('leaves other errors to others', async () => {
    await expect(send('own')).rejects.toEqual({ status: 'error', message: 'Internal server error' });
  });
});
