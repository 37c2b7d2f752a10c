import { afterAll, beforeAll, describe } from '@jest/globals';
import { Redis } from 'ioredis';
import { SentinelGroup } from '../support/topologies/sentinel-group.js';
import { redisHarness } from './redis-harness.js';
import { describeLeaseStore } from './store-contract.js';

/** What happens when the primary changes, and with ready clients of both ioredis, is in test/integration/sentinel. */
describe('a primary, two replicas and three sentinels', () => {
  let group: SentinelGroup;
  let client: Redis;
  beforeAll(async () => {
    group = await SentinelGroup.start();
    client = new Redis(group.connection);
  }, 60_000);
  afterAll(async () => {
    client?.disconnect();
    await group?.stop();
  });
  describeLeaseStore('redis', () => Promise.resolve(redisHarness(client, group.connection)), {
    foreign: true,
    immortal: true,
    textFence: true,
    runs: 5,
  });
});
