import { setTimeout as sleep } from 'node:timers/promises';
import type { RedisServer } from '../../support/redis-server.js';
import { IndependentNodes } from '../../support/topologies/independent-nodes.js';
import type { TcpProxy } from '../../support/tcp-proxy.js';
import type { StoreSpec } from './client-store.js';
import { now } from './history.js';
import type { Fault, FaultKind } from './schedule.js';
import { link, type Rewatch, type Stage, type TellAmnesia } from './stage.js';

const NODES = 5;

/** Five nodes that know nothing of each other; one at a time is restarted. */
export class QuorumStage implements Stage {
  readonly kinds: readonly FaultKind[] = ['restart', 'restart-empty'];
  readonly votes = Math.floor(NODES / 2) + 1;
  readonly ordered = false;
  readonly failsOver = false;
  readonly cron = false;

  private constructor(
    private readonly group: IndependentNodes,
    private readonly proxies: readonly TcpProxy[][],
    private readonly amnesia: TellAmnesia,
    private readonly watch: Rewatch,
  ) {}

  static async start(clients: number, amnesia: TellAmnesia, watch: Rewatch): Promise<QuorumStage> {
    const group = await IndependentNodes.start(NODES);
    return new QuorumStage(group, await link(group.nodes, clients), amnesia, watch);
  }

  get nodes(): readonly RedisServer[] {
    return this.group.nodes;
  }

  links(client: number): readonly TcpProxy[] {
    return this.proxies[client] as readonly TcpProxy[];
  }

  store(client: number): StoreSpec {
    return { quorum: this.links(client).map(({ url }) => url) };
  }

  async strike({ kind, where, forMs }: Fault): Promise<void> {
    const from = now();
    const i = Math.floor(where * NODES);
    const node = this.nodes[i] as RedisServer;
    const to = this.proxies.map((links) => links[i] as TcpProxy);
    for (const proxy of to) proxy.refuse().cut();
    await sleep(50);
    const empty = kind === 'restart-empty';
    const lostAt = empty ? now() : undefined;
    await node.restart({ empty });
    await sleep(forMs / 2);
    await this.watch(i, lostAt);
    if (empty) this.amnesia(kind, from, now());
    for (const proxy of to) proxy.pass();
  }

  heal(): Promise<void> {
    return Promise.resolve();
  }

  async stop(): Promise<void> {
    await Promise.all(this.proxies.flat().map((proxy) => proxy.stop()));
    await this.group.stop();
  }
}
