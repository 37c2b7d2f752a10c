import { afterAll, beforeAll, describe } from '@jest/globals';
import { Cluster } from 'ioredis5';
import { RedisCluster } from '../support/topologies/redis-cluster.js';
import { redisHarness } from './redis-harness.js';
import { describeLeaseStore } from './store-contract.js';

/** What happens when slots move and primaries change, and with both ioredis, is in test/integration/cluster. */
describe('a Cluster of six nodes', () => {
  let cluster: RedisCluster;
  let client: Cluster;
  beforeAll(async () => {
    cluster = await RedisCluster.start();
    client = new Cluster(cluster.addresses);
  }, 60_000);
  afterAll(async () => {
    client?.disconnect();
    await cluster?.stop();
  });
  describeLeaseStore('redis, a ready client of ioredis 5', () => Promise.resolve(redisHarness(client)), {
    foreign: true,
    immortal: true,
    textFence: true,
    runs: 5,
    jobsInOrder: false,
  });
});
