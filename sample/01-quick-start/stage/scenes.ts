import { ask, show, untilHeld } from './ask.js';
import type { Fleet, Replica } from './replica.js';
import type { Timeline } from './timeline.js';

export interface Stage {
  readonly timeline: Timeline;
  readonly fleet: Fleet;
  readonly replicas: readonly [Replica, Replica, Replica];
}

/** Plays all scenes, one after another. */
export async function playScenes(stage: Stage): Promise<void> {
  await busy(stage);
  await frozen(stage);
  await crashed(stage);
}

async function busy({ timeline, replicas: [first, second] }: Stage): Promise<void> {
  timeline.scene('Two replicas are asked to run one job. One runs it, the other answers 409.');
  timeline.line(first.name, 'runs job 42');
  const running = ask(first, 'POST', '/jobs/42/run?seconds=1');
  await untilHeld(second, '42');
  timeline.line(second.name, `is asked for job 42: ${show(await ask(second, 'POST', '/jobs/42/run'))}`);
  timeline.line(first.name, `has run job 42: ${show(await running)}`);
  timeline.line(second.name, `is asked again: ${show(await ask(second, 'POST', '/jobs/42/run?seconds=0'))}`);
}

async function frozen({ timeline, fleet, replicas: [, second, third] }: Stage): Promise<void> {
  timeline.scene('A replica freezes between its last check and its write. Another takes over. The late write is refused.');
  await second.freezeAtNextWrite();
  timeline.line(second.name, 'runs job 7 with a ttl of 2 s');
  const late = ask(second, 'POST', '/jobs/7/wait-and-run?seconds=0.1');
  await second.frozen();
  timeline.line(second.name, `is frozen (${fleet.freezing})`);
  timeline.line(third.name, 'is asked for job 7, and waits');
  timeline.line(third.name, `took over and has run job 7: ${show(await ask(third, 'POST', '/jobs/7/wait-and-run?seconds=0'))}`);
  second.resume();
  timeline.line(second.name, 'is resumed; its write leaves now');
  timeline.line(second.name, `has learned that it is late: ${show(await late)}`);
}

async function crashed({ timeline, fleet, replicas: [first, , third] }: Stage): Promise<void> {
  timeline.scene('A replica crashes in the middle of a job. Another takes over when the ttl has passed.');
  timeline.line(third.name, 'runs job 8 with a ttl of 2 s');
  const lost = ask(third, 'POST', '/jobs/8/wait-and-run?seconds=5');
  await untilHeld(first, '8');
  await third.crash();
  timeline.line(third.name, `crashes (${fleet.crashing}): ${show(await lost)}`);
  timeline.line(first.name, 'is asked for job 8, and waits');
  timeline.line(first.name, `took over and has run job 8: ${show(await ask(first, 'POST', '/jobs/8/wait-and-run?seconds=0'))}`);
}
