import { afterAll, beforeAll, describe } from '@jest/globals';
import { Cluster as Cluster6 } from 'ioredis';
import { Cluster as Cluster5 } from 'ioredis5';
import { RedisCluster } from '../support/topologies/redis-cluster.js';
import { redisHarness } from './redis-harness.js';
import { describeLeaseStore } from './store-contract.js';

const features = { foreign: true, immortal: true, textFence: true, runs: 5, jobsInOrder: false };

/** One Cluster for both; what it does when slots move and primaries change is in test/integration/cluster. */
describe('a Cluster of six nodes', () => {
  let cluster: RedisCluster;
  let clients: readonly [Cluster6, Cluster5];
  beforeAll(async () => {
    cluster = await RedisCluster.start();
    clients = [new Cluster6(cluster.addresses), new Cluster5(cluster.addresses)];
  }, 60_000);
  afterAll(async () => {
    for (const client of clients ?? []) client.disconnect();
    await cluster?.stop();
  });
  describeLeaseStore('redis, by options', () => Promise.resolve(redisHarness(clients[0], cluster.connection)), features);
  describeLeaseStore('redis, a ready client of ioredis 5', () => Promise.resolve(redisHarness(clients[1])), features);
});
