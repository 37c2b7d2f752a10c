import { MemoryFleet } from './stage/memory-fleet.js';
import { Play } from './stage/play.js';
import { ProcessFleet } from './stage/process-fleet.js';

/** `--once`: a few seconds, then the sum. Otherwise it goes on until Ctrl-C. */
const once = process.argv.includes('--once');

async function main(): Promise<void> {
  const redisUrl = process.env.REDIS_URL;
  const fleet = redisUrl === undefined ? new MemoryFleet() : new ProcessFleet(redisUrl);
  console.log(fleet.description);
  console.log(
    'An every-second job on replicas whose clocks are right, an hour ahead, and five seconds behind. The instant, and who runs it:\n',
  );
  const play = new Play(fleet);
  await play.begin();
  await play.until(3);
  await play.killNext();
  await play.until(once ? 6 : Infinity);
  await fleet.stop();

  const ended = play.runs.filter(({ state }) => state === 'ok').map(({ instant }) => instant);
  const twice = ended.length - new Set(ended).size;
  console.log(`\n${String(ended.length)} instants were run to their end, ${String(twice)} of them twice.`);
  if (twice > 0) throw new Error('An instant was run twice.');
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit());

main().then(
  () => process.exit(0),
  (error: unknown) => {
    console.error(error instanceof Error ? error.message : error);
    process.exit(1);
  },
);
