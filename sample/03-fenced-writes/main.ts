import { MemoryLeaseStore } from 'nestjs-lease';
import { runSample, withoutPassword } from '../common/run.js';
import { Timeline } from '../common/timeline.js';
import { migrate, openDatabase, ORDERS } from './app/database.js';
import { startMemoryWorker } from './stage/memory-worker.js';
import { startProcessWorker } from './stage/process-worker.js';
import { playScenes } from './stage/scenes.js';
import type { Worker } from './stage/worker.js';

runSample(async () => {
  const { REDIS_URL: redisUrl, DATABASE_URL: databaseUrl } = process.env;
  console.log(
    redisUrl === undefined
      ? 'Leases: in memory, since REDIS_URL is not set. The workers are two apps in this process.'
      : `Leases: Redis at ${withoutPassword(redisUrl)}. The workers are two processes.`,
  );
  console.log(`Orders: ${databaseUrl === undefined ? 'PGlite, since DATABASE_URL is not set' : withoutPassword(databaseUrl)}.`);

  const database = openDatabase(databaseUrl);
  await migrate(database);
  const shared = new MemoryLeaseStore();
  const namespace = `fenced-writes-${Date.now().toString(36)}`;
  const start = (name: string): Promise<Worker> =>
    redisUrl === undefined
      ? startMemoryWorker(name, shared, database)
      : startProcessWorker(name, { redisUrl, databaseUrl, namespace }, database);
  const [first, second] = await Promise.all([start('worker-1'), start('worker-2')]);

  const timeline = new Timeline();
  await playScenes({ timeline, database, first, second });
  await database.query(`DROP TABLE ${ORDERS}`);
  await database.end();
});
