import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Redis } from 'ioredis';
import { LeasedJobWorker } from '../../../lib/jobs/leased-job-worker.js';
import { startHolder, type Holder } from '../../support/holder.js';
import { RedisServer } from '../../support/redis-server.js';
import { waitFor } from '../../support/wait-for.js';

jest.setTimeout(30_000);

interface Replica {
  readonly holder: Holder;
  readonly worker: LeasedJobWorker;
}

describe.each([
  ['one Redis', [], false],
  ['a Cluster', ['--cluster-enabled', 'yes', '--cluster-announce-ip', '127.0.0.1'], true],
] as const)('claimNext on %s', (_, args, isCluster) => {
  let server: RedisServer;
  let redis: Redis;
  const replicas: Replica[] = [];
  let list = 0;
  /** Ids that no other test uses. */
  const ids = (n: number): string[] => {
    list += 1;
    return Array.from({ length: n }, (_, i) => `${String(list)}-${String(i)}`);
  };
  // One event loop stands for a hundred replicas here: how long it takes for all of them is not what is tested.
  const start = async (): Promise<Replica> => {
    const connection = isCluster ? { cluster: { nodes: [{ host: server.host, port: server.port }] } } : server.url;
    const holder = startHolder({ connection, namespace: 'next', commandTimeout: '25s' });
    const worker = new LeasedJobWorker(holder.service, { keyOf: (id) => `job:${id}`, ttl: 180 });
    replicas.push({ holder, worker });
    await holder.store.ping();
    return { holder, worker };
  };
  const fleet = (n: number): Promise<Replica[]> => Promise.all(Array.from({ length: n }, start));
  /** Scripts that Redis has run since the last call. */
  const scripts = async (): Promise<number> => {
    const calls = /cmdstat_evalsha:calls=(\d+)/.exec(await redis.info('commandstats'))?.[1] ?? 0;
    await redis.config('RESETSTAT');
    return Number(calls);
  };

  beforeAll(async () => {
    server = await RedisServer.start({ args });
    if (isCluster) {
      await server.ask('CLUSTER', 'ADDSLOTSRANGE', '0', '16383');
      await waitFor(async () => (await server.ask('CLUSTER', 'INFO')).includes('cluster_state:ok'), { message: 'the cluster' });
    }
    redis = new Redis(server.url);
    const { worker } = await start();
    await worker.claimNext(ids(1));
  });
  afterEach(async () => {
    await Promise.all(
      replicas.splice(0).map(async ({ holder, worker }) => {
        await Promise.all(worker.active.map(({ jobId }) => worker.complete(jobId)));
        await holder.close();
      }),
    );
  });
  afterAll(async () => {
    redis.disconnect();
    await server.stop();
  });

  it('gives a hundred replicas that ask for one list at the same moment a hundred different jobs', async () => {
    const jobs = ids(100);
    const workers = await fleet(10);
    await scripts();
    const claims = await Promise.all(Array.from({ length: 100 }, (_, i) => workers[i % 10]!.worker.claimNext(jobs)));
    const claimed = claims.flatMap((claim) => claim?.jobId ?? []);
    expect(new Set(claimed).size).toBe(claimed.length);
    if (!isCluster) {
      expect(claimed).toHaveLength(100);
      expect(await scripts()).toBe(100);
    } else {
      expect(claimed.length).toBeGreaterThan(50);
    }
  });

  it('finds the last one that is free among a hundred', async () => {
    const jobs = ids(100);
    const [one, two] = (await fleet(2)) as [Replica, Replica];
    await Promise.all(jobs.slice(0, 99).map((id) => one.worker.tryClaim(id)));
    await scripts();
    expect((await two.worker.claimNext(jobs))?.jobId).toBe(jobs[99]);
    // In a Cluster the look takes a command for each, all on their way at once, and the claim one more.
    expect(await scripts()).toBe(isCluster ? 101 : 1);
    expect(await two.worker.claimNext(jobs)).toBeUndefined();
  });

  it('leaves all others untouched', async () => {
    const jobs = ids(20);
    const [one] = (await fleet(1)) as [Replica];
    const claim = await one.worker.claimNext(jobs);
    const records = await Promise.all(jobs.map((id) => one.holder.service.inspect(`job:${id}`)));
    expect(records.filter(Boolean)).toEqual([expect.objectContaining({ key: claim?.lease.key, fencingToken: claim?.fencingToken })]);
  });
});
