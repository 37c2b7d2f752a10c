import { type RedisServer } from '../redis-server.js';
import { slotOf } from '../../../lib/stores/redis/slots.js';
import { waitFor } from '../wait-for.js';
import { command, fieldsOf, replicationOf } from './command.js';
import { startServers } from './independent-nodes.js';
import { SlotMigration } from './slot-migration.js';

const SLOTS = 16_384;

/** How a Cluster is started. */
export interface RedisClusterOptions {
  /** Default 3. */
  readonly primaries?: number;
  /** Of each primary. Default 1. */
  readonly replicas?: number;
  /** For how long a node may be silent before it counts as failed, in milliseconds. Default 1,500. */
  readonly nodeTimeoutMs?: number;
  /** Further arguments of every node. */
  readonly args?: readonly string[];
  /** Further variables of the environment of every node. */
  readonly env?: Readonly<Record<string, string>>;
}

/** A node as another one describes it. */
interface ClusterNodeView {
  readonly id: string;
  readonly port: number;
  readonly flags: readonly string[];
  readonly primaryId: string;
  readonly linked: boolean;
  readonly slots: readonly (readonly [from: number, to: number])[];
}

/** A Redis Cluster of real processes: primaries with all slots between them, and a replica or more for each. */
export class RedisCluster {
  private readonly ids = new Map<RedisServer, string>();

  private constructor(readonly nodes: readonly RedisServer[]) {}

  static async start(options: RedisClusterOptions = {}): Promise<RedisCluster> {
    const { primaries = 3, replicas = 1, nodeTimeoutMs = 1500, args = [], env = {} } = options;
    const clustered = [
      '--cluster-enabled',
      'yes',
      '--cluster-node-timeout',
      String(nodeTimeoutMs),
      '--cluster-replica-validity-factor',
      '0',
    ];
    const quick = ['--repl-diskless-sync-delay', '0', '--repl-ping-replica-period', '1', '--cluster-allow-replica-migration', 'no'];
    const count = primaries * (1 + replicas);
    const cluster = new RedisCluster(
      await startServers(Array.from({ length: count }, () => ({ args: [...clustered, ...quick, ...args], env }))),
    );
    try {
      await cluster.form(primaries);
      await cluster.settle();
      return cluster;
    } catch (error) {
      await cluster.stop();
      throw error;
    }
  }

  /** Addresses to begin with. */
  get addresses(): { host: string; port: number }[] {
    return this.nodes.map(({ host, port }) => ({ host, port }));
  }

  /** For the option `connection` of this library. */
  get connection(): { cluster: { nodes: { host: string; port: number }[] } } {
    return { cluster: { nodes: this.addresses } };
  }

  /** The primary of the slot of a Redis key, or of a slot, as the other nodes see it. */
  async primaryOf(where: string | number): Promise<RedisServer> {
    const slot = typeof where === 'number' ? where : slotOf(where);
    const view = (await this.view()).find(({ slots, flags }) => flags.includes('master') && has(slots, slot));
    if (view === undefined) throw new Error(`Nobody has the slot ${String(slot)}.`);
    return this.byId(view.id);
  }

  /** The replicas of that primary. */
  async replicasOf(where: string | number): Promise<RedisServer[]> {
    const id = this.idOf(await this.primaryOf(where));
    return (await this.view()).filter(({ primaryId }) => primaryId === id).map((view) => this.byId(view.id));
  }

  /** All primaries that have slots. */
  async primaries(): Promise<RedisServer[]> {
    return (await this.view()).filter(({ slots, flags }) => slots.length > 0 && !flags.includes('fail')).map(({ id }) => this.byId(id));
  }

  /** A planned failover of the primary of a key or slot; `TAKEOVER` and `FORCE` do not ask the others, or the old primary. */
  async failover(where: string | number, how?: 'FORCE' | 'TAKEOVER'): Promise<RedisServer> {
    const old = await this.primaryOf(where);
    const replica = (await this.replicasOf(where)).find(({ responsive }) => responsive) as RedisServer;
    await command(replica, 'CLUSTER', 'FAILOVER', ...(how ? [how] : []));
    return this.promoted(where, old);
  }

  /** Kills the primary of a key or slot and waits until its replica has taken over; the old one can be started again. */
  async killPrimary(where: string | number): Promise<RedisServer> {
    const old = await this.primaryOf(where);
    await old.kill();
    return this.promoted(where, old);
  }

  /** Waits until another than `old` has the slot, as everybody sees it. */
  async promoted(where: string | number, old: RedisServer): Promise<RedisServer> {
    const other = async (): Promise<RedisServer | false> => {
      const primary = await this.primaryOf(where);
      return primary !== old && (await this.isUp()) && primary;
    };
    return (await waitFor(other, { timeoutMs: 30_000, intervalMs: 20, message: 'a new primary' })) as RedisServer;
  }

  /** Moves the slot of a key, or a slot, to another primary (by default any other), step by step. */
  async migration(where: string | number, to?: RedisServer): Promise<SlotMigration> {
    const slot = typeof where === 'number' ? where : slotOf(where);
    const primaries = await this.primaries();
    const from = await this.primaryOf(slot);
    const target = to ?? primaries.find((one) => one !== from);
    if (target === undefined) throw new Error('There is no other primary.');
    return new SlotMigration(slot, from, target, primaries, (node) => this.idOf(node));
  }

  /** How many messages of a kind all nodes together have sent, or received, over their bus: `publish_sent`, for example. */
  async busMessages(kind: string): Promise<number> {
    const infos = await Promise.all(this.running.map(async (node) => fieldsOf(await command(node, 'CLUSTER', 'INFO'))));
    return infos.reduce((sum, info) => sum + Number(info[`cluster_stats_messages_${kind}`] ?? 0), 0);
  }

  /** Waits until every node that runs is linked with every other, all slots are served, and replicas are in step. */
  async settle(): Promise<void> {
    await waitFor(() => this.isSettled(), { timeoutMs: 45_000, intervalMs: 30, message: 'the nodes of the Cluster to agree' });
  }

  async stop(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.stop()));
  }

  private async form(primaries: number): Promise<void> {
    for (const node of this.nodes) this.ids.set(node, String(await command(node, 'CLUSTER', 'MYID')));
    const [first, ...others] = this.nodes as [RedisServer, ...RedisServer[]];
    for (const [i, node] of this.nodes.slice(0, primaries).entries()) {
      const from = Math.ceil((i * SLOTS) / primaries);
      const to = Math.ceil(((i + 1) * SLOTS) / primaries) - 1;
      await command(node, 'CLUSTER', 'ADDSLOTSRANGE', String(from), String(to));
      await command(node, 'CLUSTER', 'SET-CONFIG-EPOCH', String(i + 1));
    }
    for (const node of others) await command(node, 'CLUSTER', 'MEET', first.host, String(first.port), this.busPortOf(first));
    await waitFor(() => this.isUp(), { timeoutMs: 30_000, intervalMs: 30, message: 'the nodes to meet' });
    for (const [i, node] of this.nodes.slice(primaries).entries()) {
      const primary = this.idOf(this.nodes[i % primaries] as RedisServer);
      await waitFor(() => command(node, 'CLUSTER', 'REPLICATE', primary), { timeoutMs: 10_000, intervalMs: 50 });
    }
  }

  private busPortOf(node: RedisServer): string {
    return node.args[node.args.indexOf('--cluster-port') + 1] as string;
  }

  private idOf(node: RedisServer): string {
    return this.ids.get(node) as string;
  }

  private byId(id: string): RedisServer {
    return this.nodes.find((node) => this.idOf(node) === id) as RedisServer;
  }

  private get running(): RedisServer[] {
    return this.nodes.filter(({ responsive }) => responsive);
  }

  /** What the first node that runs and sees a working Cluster says of all. */
  private async view(): Promise<ClusterNodeView[]> {
    for (const node of this.running) {
      const info = fieldsOf(await command(node, 'CLUSTER', 'INFO'));
      if (info['cluster_state'] === 'ok') return viewOf(node);
    }
    throw new Error('No node sees a working Cluster.');
  }

  /** Everybody that runs sees all slots served, and knows all others that run. */
  private async isUp(): Promise<boolean> {
    const running = this.running;
    const infos = await Promise.all(running.map(async (node) => fieldsOf(await command(node, 'CLUSTER', 'INFO'))));
    if (!infos.every((info) => info['cluster_state'] === 'ok' && info['cluster_slots_ok'] === String(SLOTS))) return false;
    const views = await Promise.all(running.map(viewOf));
    const ids = running.map((node) => this.idOf(node));
    return views.every((view) =>
      ids.every((id) => view.some((one) => one.id === id && one.linked && !/fail|handshake/.test(one.flags.join()))),
    );
  }

  private async isSettled(): Promise<boolean> {
    if (!(await this.isUp())) return false;
    const states = await Promise.all(this.running.map(replicationOf));
    const views = await Promise.all(this.running.map(viewOf));
    const [first] = views.map(ownersOf);
    return (
      states.every((state) => state['role'] === 'master' || state['master_link_status'] === 'up') &&
      views.every((view) => ownersOf(view) === first)
    );
  }
}

const has = (slots: ClusterNodeView['slots'], slot: number): boolean => slots.some(([from, to]) => from <= slot && slot <= to);

const ownersOf = (view: readonly ClusterNodeView[]): string =>
  view
    .map(({ id, slots, primaryId }) => `${id} ${primaryId} ${slots.join()}`)
    .sort()
    .join();

async function viewOf(node: RedisServer): Promise<ClusterNodeView[]> {
  const text = String(await command(node, 'CLUSTER', 'NODES'));
  return text
    .trim()
    .split('\n')
    .map((line) => {
      const [id, address, flags, primaryId, , , , link, ...slots] = line.split(' ') as [string, ...string[]];
      return {
        id,
        port: Number(/:(\d+)@/.exec(address ?? '')?.[1]),
        flags: (flags ?? '').split(','),
        primaryId: primaryId as string,
        linked: link === 'connected',
        slots: slots.filter((range) => !range.startsWith('[')).map((range) => rangeOf(range)),
      };
    });
}

function rangeOf(text: string): readonly [number, number] {
  const [from, to] = text.split('-').map(Number);
  return [from as number, to ?? (from as number)];
}
