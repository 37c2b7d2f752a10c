import { setTimeout as sleep } from 'node:timers/promises';
import { MemoryLeaseStore } from 'nestjs-lease';
import { runSample, withoutPassword } from '../common/run.js';
import { Timeline } from '../common/timeline.js';
import { Board } from './stage/board.js';
import { startMemoryReplica, startProcessReplica, type Replica } from './stage/replica.js';

const JOBS = Array.from({ length: 12 }, (_, i) => String(i + 1));
const VICTIM = 'replica-2';

runSample(async () => {
  const { REDIS_URL: redisUrl } = process.env;
  console.log(
    redisUrl === undefined
      ? 'Store: in memory, since REDIS_URL is not set. The replicas are three apps in this process.'
      : `Store: Redis at ${withoutPassword(redisUrl)}. The replicas are three processes.`,
  );
  const timeline = new Timeline();
  const board = new Board(JOBS, timeline);
  const begun: string[] = [];
  let victim: Replica | undefined;
  let jobsOfVictim = 0;

  const begins = (name: string, jobId: string, token: number): void => {
    begun.push(jobId);
    timeline.line(name, `claims job ${jobId} with fencing token ${token}`);
    if (name === VICTIM) jobsOfVictim += 1;
    // It may have two jobs at a time, and has both now.
    if (victim?.name !== name || jobsOfVictim < 2) return;
    timeline.line(
      name,
      `crashes in the middle of its jobs (${redisUrl === undefined ? 'it never calls store or board again' : 'SIGKILL'})`,
    );
    void victim.crash();
    victim = undefined;
  };
  const shared = new MemoryLeaseStore();
  const namespace = `job-worker-${Date.now().toString(36)}`;
  const start = async (name: string): Promise<Replica> => {
    const told = (jobId: string, token: number): void => begins(name, jobId, token);
    if (redisUrl === undefined) return startMemoryReplica(name, shared, board, told);
    return startProcessReplica(name, { redisUrl, namespace }, board, told);
  };

  timeline.scene('Three replicas claim twelve jobs. One of them crashes; its jobs are claimed again when their ttl of 1 s has passed.');
  const replicas = await Promise.all(['replica-1', VICTIM, 'replica-3'].map(start));
  victim = replicas.find(({ name }) => name === VICTIM);
  board.begin();
  while (board.left().length > 0) await sleep(20);

  const twice = [...board.results].filter(([, by]) => by.length !== 1);
  const again = begun.length - JOBS.length;
  console.log(`\n${board.results.size} jobs are done, ${twice.length} of them twice; ${again} were begun again after the crash.`);
  await Promise.all(replicas.map((replica) => replica.crash()));
});
