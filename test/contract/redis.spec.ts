import { afterAll, beforeAll, describe } from '@jest/globals';
import { Redis as Redis6 } from 'ioredis';
import { Redis as Redis5 } from 'ioredis5';
import { RedisServer } from '../support/redis-server.js';
import { redisHarness } from './redis-harness.js';
import { describeLeaseStore } from './store-contract.js';

describe.each([
  ['ioredis 6', (url: string) => new Redis6(url)],
  ['ioredis 5', (url: string) => new Redis5(url)],
] as const)('%s', (name, connect) => {
  let server: RedisServer;
  let client: Redis6 | Redis5;
  beforeAll(async () => {
    server = await RedisServer.start();
    client = connect(server.url);
  });
  afterAll(async () => {
    client.disconnect();
    await server.stop();
  });
  describeLeaseStore(`redis, ${name}`, () => Promise.resolve(redisHarness(client)), {
    foreign: true,
    immortal: true,
    textFence: true,
    runs: 30,
  });
});
