import { setTimeout as sleep } from 'node:timers/promises';
import type { Timeline } from '../../common/timeline.js';

const PLAN = ['book the flight', 'charge the card', 'send the ticket'];

/** A moment at which the stage lets a replica crash. */
export interface Cue {
  readonly replica: string;
  readonly at: 'thinking' | 'effect';
  /** The number of the step, from 1. */
  readonly step: number;
  crash(): Promise<void>;
}

/** The model and the tools, which outlive every replica, and remember what was really done. */
export class World {
  /** Answers of calls, by idempotency key. */
  private readonly done = new Map<string, string>();
  /** How often each call took effect. */
  readonly effects = new Map<string, number>();
  cue: Cue | undefined;

  constructor(private readonly timeline: Timeline) {}

  async next(replica: string, step: number): Promise<string | undefined> {
    await this.play(replica, 'thinking', step + 1);
    await sleep(50);
    return PLAN[step];
  }

  async call(replica: string, tool: string, key: string): Promise<string> {
    const answer = `${tool}: done`;
    this.effects.set(key, (this.effects.get(key) ?? 0) + 1);
    this.done.set(key, answer);
    this.timeline.line(replica, `calls ${key} (${tool}): it takes effect`);
    await this.play(replica, 'effect', PLAN.indexOf(tool) + 1);
    return answer;
  }

  lookUp(replica: string, key: string): string | undefined {
    const answer = this.done.get(key);
    this.timeline.line(replica, `is not sure about ${key} and asks the tool: ${answer === undefined ? 'not done' : 'already done'}`);
    return answer;
  }

  private async play(replica: string, at: Cue['at'], step: number): Promise<void> {
    const { cue } = this;
    if (cue?.replica !== replica || cue.at !== at || cue.step !== step) return;
    this.cue = undefined;
    const where = at === 'thinking' ? `before call ${step}, while the model thinks` : `in call ${step}, before its answer is recorded`;
    this.timeline.line(replica, `crashes ${where}`);
    await cue.crash();
    // Its answer reaches nobody.
    await new Promise(() => undefined);
  }
}
