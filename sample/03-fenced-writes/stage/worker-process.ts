import { runChild } from '../../common/child.js';
import { openDatabase, type Database } from '../app/database.js';
import { bootWorker, type WorkerApp } from './worker.js';

interface Settings {
  readonly name: string;
  readonly redisUrl: string;
  readonly namespace: string;
  readonly databaseUrl?: string;
}

let app: WorkerApp;
const handlers = { ship: (id: string) => app.ship(id), shipUnchecked: (id: string) => app.shipUnchecked(id), arm: () => app.arm() };

await runChild<Settings>(handlers, async ({ name, redisUrl, namespace, databaseUrl }, parent) => {
  const viaParent: Database = { query: (text, values) => parent.call('query', text, values ?? []) };
  const database = databaseUrl === undefined ? viaParent : openDatabase(databaseUrl);
  app = await bootWorker(name, { connection: redisUrl, namespace }, database, async () => {
    await parent.call('frozen');
    process.kill(process.pid, 'SIGSTOP');
  });
});
