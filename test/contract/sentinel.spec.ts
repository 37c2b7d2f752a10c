import { afterAll, beforeAll, describe } from '@jest/globals';
import { Redis as Redis6 } from 'ioredis';
import { Redis as Redis5 } from 'ioredis5';
import { SentinelGroup } from '../support/topologies/sentinel-group.js';
import { redisHarness } from './redis-harness.js';
import { describeLeaseStore } from './store-contract.js';

const features = { foreign: true, immortal: true, textFence: true, runs: 5 };

/** One group for both; what it does when its primary changes is in test/integration/sentinel. */
describe('a primary, two replicas and three sentinels', () => {
  let group: SentinelGroup;
  let clients: readonly [Redis6, Redis5];
  beforeAll(async () => {
    group = await SentinelGroup.start();
    clients = [new Redis6(group.connection), new Redis5(group.connection)];
  }, 60_000);
  afterAll(async () => {
    for (const client of clients ?? []) client.disconnect();
    await group?.stop();
  });
  describeLeaseStore('redis, by options', () => Promise.resolve(redisHarness(clients[0], group.connection)), features);
  describeLeaseStore('redis, a ready client of ioredis 5', () => Promise.resolve(redisHarness(clients[1])), features);
});
