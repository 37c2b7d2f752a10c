import { Injectable } from '@nestjs/common';
import { CurrentLease, injected, isLeaseError, Lease, LeaseService, WithLease, type OnceOptions } from 'nestjs-lease';
import { Model, Tools } from './outside.js';

/** A recorded answer counts for as long as anybody may resume the thread. */
const ONCE: OnceOptions = { keepFor: '7d', ttl: 1, wait: 10 };

@Injectable()
export class AgentService {
  constructor(
    private readonly leases: LeaseService,
    private readonly model: Model,
    private readonly tools: Tools,
  ) {}

  /** Runs the thread to its end, from wherever a crashed replica left it. One replica at a time. */
  @WithLease('thread:<thread>', { ttl: 1, wait: 10 })
  async resume(thread: string, @CurrentLease() lease: Lease = injected()): Promise<string[]> {
    const answers: string[] = [];
    for (;;) {
      const tool = await this.model.next(thread, answers);
      if (tool === undefined) return answers;
      // The model took its time: does this replica still have the thread?
      lease.assertHeld();
      answers.push(await this.call(tool, `${thread}/call-${answers.length + 1}`));
    }
  }

  /** Calls a tool once, however often the thread is resumed: a repeat gets the recorded answer. */
  private async call(tool: string, key: string): Promise<string> {
    try {
      return await this.leases.once(key, () => this.tools.call(tool, key), ONCE);
    } catch (error) {
      if (!isLeaseError(error, 'EFFECT_UNCERTAIN')) throw error;
    }
    // A replica crashed between the call and its record. Only the tool knows whether the call took effect: ask it, and record that.
    const ask = async (): Promise<string> => (await this.tools.lookUp(key)) ?? (await this.tools.call(tool, key));
    return this.leases.once(key, ask, { ...ONCE, rerun: true });
  }
}
