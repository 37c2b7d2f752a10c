import { setTimeout as sleep } from 'node:timers/promises';
import type { RedisServer } from '../../support/redis-server.js';
import { RedisCluster } from '../../support/topologies/redis-cluster.js';
import type { TcpProxy } from '../../support/tcp-proxy.js';
import type { StoreSpec } from './client-store.js';
import { now } from './history.js';
import type { Fault, FaultKind } from './schedule.js';
import { link, natMapOf, type Rewatch, type Stage, type TellAmnesia } from './stage.js';

/** Three primaries with a replica each. A primary that is killed may take with it what its replica had not heard of. */
export class ClusterStage implements Stage {
  readonly kinds: readonly FaultKind[] = ['failover', 'kill-primary', 'migrate-slot', 'migrate-slot'];
  readonly votes = 1;
  readonly ordered = false;
  readonly failsOver = true;
  readonly cron = true;

  private constructor(
    private readonly cluster: RedisCluster,
    private readonly proxies: readonly TcpProxy[][],
    private readonly amnesia: TellAmnesia,
    private readonly watch: Rewatch,
  ) {}

  static async start(clients: number, amnesia: TellAmnesia, watch: Rewatch): Promise<ClusterStage> {
    const cluster = await RedisCluster.start();
    return new ClusterStage(cluster, await link(cluster.nodes, clients), amnesia, watch);
  }

  get nodes(): readonly RedisServer[] {
    return this.cluster.nodes;
  }

  links(client: number): readonly TcpProxy[] {
    return this.proxies[client] as readonly TcpProxy[];
  }

  store(client: number): StoreSpec {
    const ports = this.nodes.map(({ port }) => String(port));
    const links = this.links(client);
    const nodes = links.map(({ host, port }) => ({ host, port }));
    return { connection: { cluster: { nodes, options: { natMap: natMapOf(ports, links) } } } };
  }

  async strike({ kind, forMs }: Fault, key: string): Promise<void> {
    const from = now();
    if (kind === 'failover') await this.cluster.failover(key);
    if (kind === 'kill-primary') {
      const old = await this.cluster.primaryOf(key);
      await this.cluster.killPrimary(key);
      await old.restart();
      await this.watch(this.nodes.indexOf(old));
    }
    if (kind === 'migrate-slot') {
      const migration = await this.cluster.migration(key);
      await migration.begin();
      await sleep(forMs / 10);
      // Half of them: scripts that need both halves have to be asked again.
      await migration.moveKeys((moved) => moved.length % 2 === 0);
      await sleep(forMs / 10);
      await migration.end();
    }
    await this.cluster.settle();
    // A planned failover waits for the replica, and a slot takes its keys along.
    if (kind === 'kill-primary') this.amnesia(kind, from, now());
  }

  heal(): Promise<void> {
    return this.cluster.settle();
  }

  async stop(): Promise<void> {
    await Promise.all(this.proxies.flat().map((proxy) => proxy.stop()));
    await this.cluster.stop();
  }
}
