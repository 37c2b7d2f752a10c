import { AppModule } from '../app/app.module.js';
import { FreezingResultsClient } from './freezing-results.client.js';
import { listen } from './listen.js';
import type { ReplicaMessage } from './process-fleet.js';

/** What the fleet tells a replica as its only argument. */
interface ReplicaSettings {
  readonly name: string;
  readonly port: number;
  readonly redisUrl: string;
  readonly tableUrl: string;
  readonly namespace: string;
}

const tell = (message: ReplicaMessage): Promise<void> => new Promise((resolve) => process.send?.(message, () => resolve()));

process.once('disconnect', () => process.exit());
// Ctrl-C reaches every process of the terminal; the first one ends the others.
process.on('SIGINT', () => undefined);

const { name, port, redisUrl, tableUrl, namespace } = JSON.parse(process.argv[2] ?? '{}') as ReplicaSettings;
const results = new FreezingResultsClient(tableUrl, async () => {
  await tell({ said: 'frozen' });
  process.kill(process.pid, 'SIGSTOP');
});
process.on('message', () => {
  results.arm();
  void tell({ said: 'armed' });
});

try {
  const { url } = await listen(AppModule.forReplica({ lease: { connection: redisUrl, namespace, holder: name }, results }), port);
  await tell({ url });
} catch (error) {
  await tell({ failed: error instanceof Error ? error.message : String(error) });
  process.exit(1);
}
