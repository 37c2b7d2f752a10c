import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { seeded } from '../../support/fuzz-random.js';
import { TestProcess, type ChildMessage } from '../../support/process.js';
import { RedisServer } from '../../support/redis-server.js';
import { sharedNow } from '../../support/shared-clock.js';
import { TcpProxy } from '../../support/tcp-proxy.js';
import { LineModel } from './line-model.js';
import type { WaitOrder } from './waiter.process.js';

const program = join(import.meta.dirname, 'waiter.process.ts');
const NAMESPACE = 'storm';
export const TTL_MS = 1000;

/** From when to when a process could not be counted on; it may need a moment to come back. */
interface Trouble {
  readonly from: number;
  until: number;
}

/** One waiting process behind a proxy of its own. */
export interface Replica {
  readonly process: TestProcess;
  readonly proxy: TcpProxy;
  readonly troubles: Trouble[];
  /** It has told that it runs; before that no fault may hit it. */
  ready: boolean;
  killed: boolean;
}

/** What was asked of which process. */
export interface Asked {
  readonly order: WaitOrder;
  readonly replica: Replica;
  readonly at: number;
}

export interface StormOptions {
  readonly seed: number;
  readonly forMs: number;
  readonly replicas: number;
  readonly keys: number;
}

/** What happened, to be judged. */
export interface History {
  readonly models: readonly LineModel[];
  readonly asked: readonly Asked[];
  readonly replicas: readonly Replica[];
  readonly faults: Readonly<Record<string, number>>;
  /** When the last fault was over, and when every call had come to its end. */
  readonly healedAt: number;
  readonly settledAt: number;
  /** Calls without an outcome when the patience was over. */
  readonly unsettled: readonly string[];
  /** What is in the lines when nobody waits any more. */
  readonly leftovers: readonly string[];
}

export const now = sharedNow;

/** Processes wait for few leases while they are killed, frozen and cut off; everything that Redis does is written down. */
export class Storm {
  private readonly random: () => number;
  private readonly asked: Asked[] = [];
  private readonly replicas: Replica[] = [];
  private readonly faults: Record<string, number> = {};
  private readonly models: LineModel[];
  /** Faults that are not over yet. */
  private readonly under: Promise<void>[] = [];
  private over = false;
  private client!: Redis;
  private monitor!: Redis;
  private server!: RedisServer;

  private constructor(private readonly options: StormOptions) {
    this.random = seeded(options.seed);
    this.models = Array.from({ length: options.keys }, (_, i) => new LineModel(`${NAMESPACE}:{k${String(i)}}`));
  }

  static async run(options: StormOptions): Promise<History> {
    const storm = new Storm(options);
    try {
      return await storm.play();
    } finally {
      await storm.end();
    }
  }

  private async play(): Promise<History> {
    this.server = await RedisServer.start();
    this.client = new Redis(this.server.url);
    await this.watch();
    await Promise.all(Array.from({ length: this.options.replicas }, () => this.start()));
    const until = now() + this.options.forMs;
    let nextFault = now() + 500;
    while (now() < until) {
      this.order();
      await sleep(this.random() * 20);
      if (now() < nextFault) continue;
      nextFault = now() + 200 + this.random() * 500;
      const fault = this.fault();
      this.under.push(fault);
      // It is looked at in the end, and must not count as unhandled until then.
      fault.catch(() => undefined);
    }
    await Promise.all(this.under);
    const healedAt = now();
    const unsettled = await this.settle();
    const settledAt = now();
    return { ...this.result(), healedAt, settledAt, unsettled, leftovers: await this.leftovers() };
  }

  private result(): Pick<History, 'models' | 'asked' | 'replicas' | 'faults'> {
    const { models, asked, replicas, faults } = this;
    return { models, asked, replicas, faults };
  }

  private async watch(): Promise<void> {
    this.monitor = await this.client.monitor();
    this.monitor.on('monitor', (time: string, args: string[], source: string) => {
      if (source !== 'lua') for (const model of this.models) model.begin(args);
      else for (const model of this.models) model.see({ at: Number(time) * 1000, args, source });
    });
  }

  private async start(): Promise<void> {
    const proxy = await TcpProxy.start(this.server);
    if (this.over) return proxy.stop();
    const process = new TestProcess(program, { url: proxy.url, namespace: NAMESPACE });
    const replica: Replica = { process, proxy, troubles: [], ready: false, killed: false };
    this.replicas.push(replica);
    await process.message('ready', { timeoutMs: 60_000 });
    replica.ready = true;
  }

  private order(): void {
    const alive = this.replicas.filter(({ killed, process }) => !killed && process.running);
    const replica = this.pick(alive);
    const order: WaitOrder = {
      type: 'wait',
      id: `w${String(this.asked.length)}`,
      key: `k${String(Math.floor(this.random() * this.options.keys))}`,
      ttl: `${String(TTL_MS)}ms`,
      wait: '10m',
      holdMs: Math.floor(this.random() * 25),
      ...(this.random() < 0.2 ? { cancelMs: Math.floor(this.random() * 400) } : {}),
    };
    this.asked.push({ order, replica, at: now() });
    replica.process.send(order);
  }

  private async fault(): Promise<void> {
    const sound = this.replicas.filter(({ ready, killed, troubles }) => ready && !killed && !troubles.some(({ until }) => until > now()));
    // One is left alone, so that somebody could always be served.
    if (sound.length < 2) return;
    const replica = this.pick(sound);
    const kinds = ['kill', 'freeze', 'cut', 'cut', 'subscription', 'subscription', 'refuse'] as const;
    const kind = this.pick(kinds);
    this.faults[kind] = (this.faults[kind] ?? 0) + 1;
    const trouble: Trouble = { from: now(), until: Infinity };
    replica.troubles.push(trouble);
    await this.strike(kind, replica);
    if (!replica.killed) trouble.until = now() + 500;
  }

  private async strike(kind: string, replica: Replica): Promise<void> {
    const { process, proxy } = replica;
    switch (kind) {
      case 'kill':
        replica.killed = true;
        await process.kill();
        await this.start();
        return;
      case 'freeze':
        process.freeze();
        await sleep(300 + this.random() * 1500);
        process.thaw();
        return;
      case 'cut':
        proxy.cut();
        return;
      case 'subscription':
        await this.client.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
        return;
      default:
        proxy.refuse().cut();
        await sleep(this.random() * 700);
        proxy.pass();
    }
  }

  /** Waits until every call that can have an outcome has one. */
  private async settle(): Promise<string[]> {
    const until = now() + 30_000;
    for (;;) {
      const open = this.asked.filter(({ order, replica }) => !replica.killed && outcomeOf(replica, order.id) === undefined);
      if (open.length === 0 || now() > until) return open.map(({ order }) => `${order.id} ${order.key}`);
      await sleep(20);
    }
  }

  /** The next one that asks takes what the dead have left out of the line; what is there then has been forgotten. */
  private async leftovers(): Promise<string[]> {
    const replica = this.replicas.find(({ killed }) => !killed) as Replica;
    for (let i = 0; i < this.options.keys; i++) {
      const order: WaitOrder = { type: 'wait', id: `end${String(i)}`, key: `k${String(i)}`, ttl: '1s', wait: '20s', holdMs: 0 };
      replica.process.send(order);
      while (outcomeOf(replica, order.id) === undefined) await sleep(10);
    }
    await sleep(50);
    return this.client.keys(`${NAMESPACE}:*:[qw]*`);
  }

  private async end(): Promise<void> {
    this.over = true;
    await Promise.all(this.replicas.map(({ process }) => process.kill()));
    // A fault may be starting another process: nothing may outlive this.
    await Promise.allSettled(this.under);
    await Promise.all(this.replicas.map(({ process }) => process.kill()));
    this.monitor?.disconnect();
    this.client?.disconnect();
    await Promise.all(this.replicas.map(({ proxy }) => proxy.stop()));
    await this.server?.stop();
  }

  private pick<T>(list: readonly T[]): T {
    return list[Math.floor(this.random() * list.length)] as T;
  }
}

/** How a call came out, as its process told: after the lease was given back, where there was one. */
export function outcomeOf({ process }: Replica, id: string): ChildMessage | undefined {
  return process.messages.find((message) => message.id === id && (message.type === 'released' || message.type === 'failed'));
}
