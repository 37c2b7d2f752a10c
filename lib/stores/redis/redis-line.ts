import type { Clock } from '../../time/clock.js';
import type { Attended, AttendRequest, StoreSubscription, WaitPlace, Wake } from '../lease-store.js';
import type { RedisConnection } from './connection.js';
import type { ConnectionPlan } from './connection-option.js';
import { escapePart, type LeaseKeys } from './keys.js';
import type { Notices } from './notices.js';
import { readAttended } from './replies.js';
import type { Asked, ScriptCalls } from './script-calls.js';
import { attendScript } from './scripts/attend.script.js';
import { ShardedSubscription } from './sharded-subscription.js';
import { WakeSubscription } from './wake-subscription.js';

/** The processes that wait in the lines of a Redis store. */
export class RedisLine {
  private readonly subscriptions = new Set<StoreSubscription>();
  private readonly sharded = new Set<ShardedSubscription>();

  constructor(
    /** Left out for a Cluster. */
    private readonly plan: ConnectionPlan | undefined,
    private readonly keys: LeaseKeys,
    private readonly calls: ScriptCalls,
    private readonly connection: RedisConnection,
    private readonly notices: Notices,
    private readonly clock: Clock,
  ) {}

  /** Rejects only when nothing at all could be asked. */
  async attend(requests: readonly AttendRequest[]): Promise<(Attended | undefined)[]> {
    const asked: Asked[] = [];
    const answers = requests.map(
      ({ key, process }) =>
        new Promise<Attended>((resolve, reject) => {
          const [lease, , queue, waiters] = this.keys.of(key);
          const settle = (reply: unknown): void => resolve(readAttended(reply));
          asked.push({ keys: [lease, queue, waiters], args: [escapePart(process)], settle, fail: reject });
        }),
    );
    this.calls.send(attendScript, [], asked);
    const settled = await Promise.allSettled(answers);
    for (const subscription of this.sharded) subscription.review();
    if (settled.every(({ status }) => status === 'rejected')) await answers[0];
    return settled.map((answer) => (answer.status === 'fulfilled' ? answer.value : undefined));
  }

  onWake(process: string, listener: (wake: Wake) => void): StoreSubscription {
    const { plan, connection, keys, clock, notices } = this;
    if (plan === undefined) {
      const subscription = new ShardedSubscription({ connection, keys, clock, notices, process, listener });
      this.sharded.add(subscription);
      this.subscriptions.add(subscription);
      return subscription;
    }
    const channel = keys.wakeChannel + escapePart(process);
    const publish = (): Promise<unknown> => connection.run((client) => client.publish(channel, ''));
    const subscription = new WakeSubscription(plan, channel, listener, publish, notices);
    this.subscriptions.add(subscription);
    return subscription;
  }

  close(): void {
    for (const subscription of this.subscriptions) subscription.unsubscribe();
  }
}

/** How a place in the line is asked for. */
export function placeOf({ process, ticket, claimMs, maxQueue }: WaitPlace): string {
  return `${escapePart(process)} ${ticket === undefined ? '-' : String(ticket)} ${String(Math.ceil(claimMs))} ${String(maxQueue)}`;
}

/** How it stands in the line. */
export function memberOf({ process, claimMs }: WaitPlace, holderId: string, holderTag: string): string {
  return `${escapePart(process)} ${escapePart(holderId)} ${String(Math.ceil(claimMs))} ${escapePart(holderTag)}`;
}
