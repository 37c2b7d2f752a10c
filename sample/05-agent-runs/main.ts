import { MemoryLeaseStore } from 'nestjs-lease';
import { runSample, withoutPassword } from '../common/run.js';
import { Timeline } from '../common/timeline.js';
import { startMemoryReplica, startProcessReplica, type Replica } from './stage/replica.js';
import { World, type Cue } from './stage/world.js';

runSample(async () => {
  const { REDIS_URL: redisUrl } = process.env;
  console.log(
    redisUrl === undefined
      ? 'Store: in memory, since REDIS_URL is not set. The replicas are apps in this process; a crash cuts one off from everything.'
      : `Store: Redis at ${withoutPassword(redisUrl)}. The replicas are processes; a crash is SIGKILL.`,
  );
  const timeline = new Timeline();
  const world = new World(timeline);
  const shared = new MemoryLeaseStore();
  const settings = { redisUrl, namespace: `agent-runs-${Date.now().toString(36)}` };
  const start = (name: string): Promise<Replica> =>
    redisUrl === undefined ? startMemoryReplica(name, shared, world) : startProcessReplica(name, settings, world);
  const [one, two, three] = await Promise.all([start('replica-1'), start('replica-2'), start('replica-3')]);
  timeline.begin();

  /** Two replicas are asked to resume one thread; the first of them crashes. */
  const play = async (thread: string, victim: Replica, at: Cue['at'], step: number): Promise<void> => {
    world.cue = { replica: victim.name, at, step, crash: () => victim.crash() };
    timeline.line(victim.name, `resumes thread ${thread}`);
    // It never answers, or tells that its process is gone.
    victim.resume(thread).catch(() => undefined);
    while (world.cue) await new Promise((resolve) => setTimeout(resolve, 10));
    timeline.line(two.name, `resumes thread ${thread}, and waits for its lease, which has a ttl of 1 s`);
    const answers = await two.resume(thread);
    timeline.line(two.name, `has run thread ${thread} to its end: ${answers.length} answers`);
  };

  timeline.scene('A replica crashes between two tool calls. The next one has the recorded answers and goes on from there.');
  await play('7', one, 'thinking', 3);
  timeline.scene('A replica crashes between the effect of a call and its record. That is told apart, and the tool is asked.');
  await play('8', three, 'effect', 2);

  const twice = [...world.effects].filter(([, times]) => times > 1);
  console.log(`\n${world.effects.size} tool calls took effect, ${twice.length} of them more than once.`);
  await two.crash();
});
