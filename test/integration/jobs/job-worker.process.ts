import { Redis } from 'ioredis';
import { setTimeout as sleep } from 'node:timers/promises';
import { RedisFencingGuard } from '../../../lib/fencing/redis/redis-fencing-guard.js';
import type { JobClaim } from '../../../lib/jobs/job-claim.js';
import { LeasedJobWorker } from '../../../lib/jobs/leased-job-worker.js';
import { startHolder } from '../../support/holder.js';

/** What a worker in a process of its own does. */
export interface JobWorkerOptions {
  readonly url: string;
  readonly name: string;
  /** At its n-th job it says `hanging` between its work and its write, and goes on only when it is told. */
  readonly hangAt?: number;
}

/** The write that ends a job: what it did, and that it is not open any more, in one step behind the fence. */
const FINISH = `redis.call('RPUSH', KEYS[1], ARGV[2]) return redis.call('SREM', KEYS[2], ARGV[1])`;

const { url, name, hangAt } = JSON.parse(process.argv[2] as string) as JobWorkerOptions;
const tell = (message: { type: string } & Record<string, unknown>): void => void process.send?.(message);
const redis = new Redis(url);
const guard = new RedisFencingGuard(redis);
const { service } = startHolder({ connection: url, holder: name, namespace: 'jobs' });
const worker = new LeasedJobWorker(service, { keyOf: (id) => `job:${id}`, ttl: '1s', concurrency: 2 });
let jobs = 0;

async function work({ jobId, lease }: JobClaim): Promise<void> {
  // Another worker may have finished it between our look at the list and our claim.
  if ((await redis.sismember('open', jobId)) === 0) return;
  jobs += 1;
  const hangs = jobs === hangAt;
  await sleep(5);
  if (hangs) {
    tell({ type: 'hanging', jobId });
    await new Promise((resolve) => process.once('message', resolve));
  }
  // The fence stands beside the journal of this very job.
  await guard.run(lease, { keys: [`writes:${jobId}`, 'open'], args: [jobId, name], script: FINISH });
}

async function turn(): Promise<void> {
  for (;;) {
    const open = await redis.smembers('open');
    if (open.length === 0) return;
    const claim = await worker.claimNext(open);
    if (!claim) {
      await sleep(20);
      continue;
    }
    const outcome = await worker.run(claim.jobId, work);
    tell({
      type: 'ran',
      jobId: claim.jobId,
      kind: outcome.kind,
      ...(outcome.kind === 'lost' ? { cause: String(outcome.error.cause) } : {}),
    });
  }
}

process.on('unhandledRejection', (error) => tell({ type: 'unhandled', error: String(error) }));
Promise.all([turn(), turn()]).then(
  () => tell({ type: 'idle' }),
  (error: unknown) => tell({ type: 'failed', error: String(error) }),
);
