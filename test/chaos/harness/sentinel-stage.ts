import { setTimeout as sleep } from 'node:timers/promises';
import type { RedisServer } from '../../support/redis-server.js';
import { SentinelGroup } from '../../support/topologies/sentinel-group.js';
import type { TcpProxy } from '../../support/tcp-proxy.js';
import type { StoreSpec } from './client-store.js';
import { now } from './history.js';
import type { Fault, FaultKind } from './schedule.js';
import { link, natMapOf, type Rewatch, type Stage, type TellAmnesia } from './stage.js';

/** A primary, two replicas and three sentinels. A failover may lose what the new primary had not heard of. */
export class SentinelStage implements Stage {
  readonly kinds: readonly FaultKind[] = ['failover', 'kill-primary', 'isolate-primary'];
  readonly votes = 1;
  readonly ordered = false;
  readonly failsOver = true;
  readonly cron = true;

  private constructor(
    private readonly group: SentinelGroup,
    private readonly proxies: readonly TcpProxy[][],
    private readonly amnesia: TellAmnesia,
    private readonly watch: Rewatch,
  ) {}

  static async start(clients: number, amnesia: TellAmnesia, watch: Rewatch): Promise<SentinelStage> {
    const group = await SentinelGroup.start();
    return new SentinelStage(group, await link(group.nodes, clients), amnesia, watch);
  }

  get nodes(): readonly RedisServer[] {
    return this.group.nodes;
  }

  links(client: number): readonly TcpProxy[] {
    return this.proxies[client] as readonly TcpProxy[];
  }

  store(client: number): StoreSpec {
    // Sentinels name the port that a node announces.
    const announced = this.nodes.map(({ args }) => args[args.indexOf('--replica-announce-port') + 1] as string);
    return { connection: { ...this.group.connection, natMap: natMapOf(announced, this.links(client)) } };
  }

  async strike(fault: Fault): Promise<void> {
    const from = now();
    const old = await this.group.primary();
    try {
      await this.replace(fault, old);
    } catch (error) {
      // On a busy machine sentinels may give an election up: what matters is that they agree in the end.
      process.stderr.write(`${fault.kind}: ${String(error)}\n`);
    }
    this.group.rejoin(old);
    if (!old.responsive) {
      await old.restart();
      await this.watch(this.nodes.indexOf(old));
    }
    await this.group.settle();
    this.amnesia(fault.kind, from, now());
  }

  private async replace({ kind, forMs }: Fault, old: RedisServer): Promise<void> {
    if (kind === 'failover') await this.group.failover();
    if (kind === 'kill-primary') await this.group.killPrimary();
    if (kind !== 'isolate-primary') return;
    // Clients that are connected to it still reach it: two primaries at once.
    this.group.isolate(old);
    await this.group.promoted(old);
    await sleep(forMs / 2);
  }

  heal(): Promise<void> {
    return this.group.settle();
  }

  async stop(): Promise<void> {
    await Promise.all(this.proxies.flat().map((proxy) => proxy.stop()));
    await this.group.stop();
  }
}
