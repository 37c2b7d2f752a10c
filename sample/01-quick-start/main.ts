import { ResultsModule } from './table/results.module.js';
import { listen } from './stage/listen.js';
import { MemoryFleet } from './stage/memory-fleet.js';
import { ProcessFleet } from './stage/process-fleet.js';
import type { Fleet } from './stage/replica.js';
import { playScenes } from './stage/scenes.js';
import { Timeline } from './stage/timeline.js';
import { WatchedTable } from './stage/watched-table.js';

/** `--once`: plays the scenes and exits. Otherwise the replicas stay, on PORT (3000) and the two ports above it. */
const once = process.argv.includes('--once');
const firstPort = once ? 0 : Number(process.env.PORT ?? 3000);
const portOf = (index: number): number => (firstPort === 0 ? 0 : firstPort + index);

async function main(): Promise<void> {
  const timeline = new Timeline();
  const table = await listen(ResultsModule.forTable(new WatchedTable(timeline)), 0);
  const redisUrl = process.env.REDIS_URL;
  const fleet: Fleet = redisUrl === undefined ? new MemoryFleet(table.url) : new ProcessFleet(redisUrl, table.url);
  console.log(fleet.description);

  const start = (index: number) => fleet.start(`replica-${index + 1}`, portOf(index));
  const [first, second, third] = await Promise.all([start(0), start(1), start(2)]);
  timeline.begin();
  await playScenes({ timeline, fleet, replicas: [first, second, third] });
  if (once) {
    await fleet.stop();
    await table.app.close();
    return;
  }

  const again = await start(2);
  console.log(
    `\nThe replicas stay: ${[first, second, again].map(({ url }) => url).join(', ')}. Ctrl-C ends them. Try, in another terminal:`,
  );
  console.log(`  curl -i -X POST ${first.url}/jobs/42/run & sleep 1; curl -i -X POST ${second.url}/jobs/42/run`);
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit());

main().then(
  () => once && process.exit(0),
  (error: unknown) => {
    console.error(error instanceof Error ? error.message : error);
    process.exit(1);
  },
);
