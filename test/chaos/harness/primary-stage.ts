import { setTimeout as sleep } from 'node:timers/promises';
import { RedisServer } from '../../support/redis-server.js';
import type { TcpProxy } from '../../support/tcp-proxy.js';
import type { StoreSpec } from './client-store.js';
import { now } from './history.js';
import type { Fault, FaultKind } from './schedule.js';
import { link, type Rewatch, type Stage, type TellAmnesia } from './stage.js';

/** One Redis, which is restarted with its data, or without. */
export class PrimaryStage implements Stage {
  readonly kinds: readonly FaultKind[] = ['restart', 'restart-empty'];
  readonly votes = 1;
  readonly ordered = true;
  readonly failsOver = false;
  readonly cron = true;
  readonly nodes: readonly RedisServer[];

  private constructor(
    private readonly server: RedisServer,
    private readonly proxies: readonly TcpProxy[][],
    private readonly amnesia: TellAmnesia,
    private readonly watch: Rewatch,
  ) {
    this.nodes = [server];
  }

  static async start(clients: number, amnesia: TellAmnesia, watch: Rewatch): Promise<PrimaryStage> {
    const server = await RedisServer.start();
    return new PrimaryStage(server, await link([server], clients), amnesia, watch);
  }

  links(client: number): readonly TcpProxy[] {
    return this.proxies[client] as readonly TcpProxy[];
  }

  store(client: number): StoreSpec {
    return { connection: (this.links(client)[0] as TcpProxy).url };
  }

  async strike({ kind, forMs }: Fault): Promise<void> {
    const from = now();
    // Nobody comes before it is watched again.
    for (const proxy of this.proxies.flat()) proxy.refuse().cut();
    // What was on its way has arrived, or never will.
    await sleep(50);
    const empty = kind === 'restart-empty';
    const lostAt = empty ? now() : undefined;
    await this.server.restart({ empty });
    await sleep(forMs / 2);
    await this.watch(0, lostAt);
    if (empty) this.amnesia(kind, from, now());
    for (const proxy of this.proxies.flat()) proxy.pass();
  }

  heal(): Promise<void> {
    return Promise.resolve();
  }

  async stop(): Promise<void> {
    await Promise.all(this.proxies.flat().map((proxy) => proxy.stop()));
    await this.server.stop();
  }
}
