import { type RedisServer } from '../redis-server.js';
import { REPLICA } from '../replica-set.js';
import { TcpProxy } from '../tcp-proxy.js';
import { waitFor } from '../wait-for.js';
import { command, fieldsOf, replicationOf } from './command.js';
import { startServers } from './independent-nodes.js';

const NAME = 'mymaster';
/**
 * Sentinels look and talk more often than they do by themselves, and do not take a busy machine for a clock that jumped. They
 * choose no replica of which they have not heard for five ping periods, and ask each once a second while the primary is down.
 */
const HURRY = ['info-period', '100', 'ping-period', '400', 'ask-period', '100', 'publish-period', '200', 'tilt-trigger', '60000'];

/** How a group is started. */
export interface SentinelGroupOptions {
  /** Default 2. */
  readonly replicas?: number;
  /** Default 3. */
  readonly sentinels?: number;
  /** For how long a primary may be silent before sentinels replace it, in milliseconds. Default 1,000. */
  readonly downAfterMs?: number;
  /** Further arguments of primary and replicas. */
  readonly args?: readonly string[];
  /** Further variables of the environment of the replicas of the beginning: for a clock of their own. */
  readonly replicaEnv?: Readonly<Record<string, string>>;
}

/** A primary, its replicas, and the sentinels that watch them, as processes of their own. */
export class SentinelGroup {
  readonly name = NAME;

  /** Those that keep data; which is the primary changes. */
  nodes: readonly RedisServer[] = [];
  sentinels: readonly RedisServer[] = [];

  /** `fronts`: in front of each node; sentinels, replicas and clients that ask a sentinel reach it there. */
  private constructor(private readonly fronts: readonly TcpProxy[]) {}

  static async start(options: SentinelGroupOptions = {}): Promise<SentinelGroup> {
    const { replicas = 2, sentinels = 3, downAfterMs = 1000, args = [], replicaEnv = {} } = options;
    const fronts: TcpProxy[] = [];
    const targets = Array.from({ length: 1 + replicas }, () => ({ port: 0, raw: true }));
    for (const target of targets) fronts.push(await TcpProxy.start(target));
    const group = new SentinelGroup(fronts);
    try {
      const announced = fronts.map(({ host, port }) => ['--replica-announce-ip', host, '--replica-announce-port', String(port)]);
      // The file keeps who is whose replica through a restart.
      const env = (i: number): Readonly<Record<string, string>> => (i === 0 ? {} : replicaEnv);
      group.nodes = await startServers(announced.map((its, i) => ({ args: [...REPLICA, ...its, ...args], env: env(i), config: '\n' })));
      targets.forEach((target, i) => (target.port = (group.nodes[i] as RedisServer).port));
      await group.replicate();
      const quorum = Math.floor(sentinels / 2) + 1;
      const { port } = fronts[0] as TcpProxy;
      // The others notice later, so that they vote and do not stand for election themselves: nobody wins where all do.
      const patience = (i: number): number => (i < quorum ? downAfterMs : 2 * downAfterMs + 1000);
      const configs = Array.from({ length: sentinels }, (_, i) => sentinelConfig(port, quorum, patience(i)));
      group.sentinels = await startServers(configs.map((config) => ({ config, args: ['--sentinel'] })));
      for (const sentinel of group.sentinels) await hurry(sentinel);
      await group.settle();
      return group;
    } catch (error) {
      await group.stop();
      throw error;
    }
  }

  /** For the option `connection` of this library, and for ioredis. */
  get connection(): { sentinels: { host: string; port: number }[]; name: string } {
    return { sentinels: this.sentinels.map(({ host, port }) => ({ host, port })), name: NAME };
  }

  /** The primary of now, as most sentinels say. */
  async primary(): Promise<RedisServer> {
    const said = await Promise.all(this.sentinels.filter(({ responsive }) => responsive).map((sentinel) => this.primaryOf(sentinel)));
    const primary = said.find((one) => one && said.filter((other) => other === one).length * 2 > this.sentinels.length);
    if (primary === undefined) throw new Error('The sentinels do not agree on a primary.');
    return primary;
  }

  /** The nodes that are not the primary, whatever state they are in. */
  async replicas(): Promise<RedisServer[]> {
    const primary = await this.primary();
    return this.nodes.filter((node) => node !== primary);
  }

  /** Waits until sentinels have put another in the place of `old`, and it takes writes. */
  async promoted(old: RedisServer): Promise<RedisServer> {
    const other = async (): Promise<RedisServer | false> => {
      const primary = await this.primary();
      return primary !== old && (await replicationOf(primary))['role'] === 'master' && primary;
    };
    return (await waitFor(other, { timeoutMs: 30_000, intervalMs: 20, message: 'a new primary' })) as RedisServer;
  }

  /** A planned failover; resolves with the new primary when it takes writes. The old one becomes its replica a little later. */
  async failover(): Promise<RedisServer> {
    const old = await this.primary();
    // Refused for a moment after the last one.
    const asked = async (): Promise<unknown> =>
      command(this.sentinels.find(({ responsive }) => responsive) as RedisServer, 'SENTINEL', 'FAILOVER', NAME);
    await waitFor(asked, { timeoutMs: 30_000, intervalMs: 100, message: 'SENTINEL FAILOVER to be accepted' });
    return this.promoted(old);
  }

  /** Kills the primary and waits for another; the old one can be started again with `restart()`. */
  async killPrimary(): Promise<RedisServer> {
    const old = await this.primary();
    await old.kill();
    return this.promoted(old);
  }

  /** From now on the replicas miss what is written: they stand still, and their links are gone. Ends with {@link thawReplicas}. */
  async freezeReplicas(): Promise<void> {
    const primary = await this.primary();
    for (const replica of await this.replicas()) replica.freeze();
    // What is in a link would reach them yet.
    await command(primary, 'CLIENT', 'KILL', 'TYPE', 'replica');
  }

  thawReplicas(): void {
    for (const node of this.nodes) node.thaw();
  }

  /** Cuts the node off from sentinels and replicas. Clients that connect to `node.url` still reach it. */
  isolate(node: RedisServer): void {
    this.frontOf(node).refuse().cut();
  }

  /** Ends {@link isolate}. */
  rejoin(node: RedisServer): void {
    this.frontOf(node).pass();
  }

  /** Waits until every node that runs is where it belongs: one primary, replicas in step with it, all sentinels of one mind. */
  async settle(): Promise<void> {
    await waitFor(() => this.isSettled(), { timeoutMs: 45_000, intervalMs: 50, message: 'primary, replicas and sentinels to agree' });
  }

  /** Waits until all replicas that run have what the primary has. */
  async inStep(): Promise<void> {
    const primary = await this.primary();
    const others = this.nodes.filter((node) => node !== primary && node.responsive);
    const same = async (): Promise<boolean> => {
      const offset = (await replicationOf(primary))['master_repl_offset'];
      const states = await Promise.all(others.map(replicationOf));
      return states.every((state) => state['master_link_status'] === 'up' && Number(state['slave_repl_offset']) >= Number(offset));
    };
    await waitFor(same, { timeoutMs: 20_000, message: 'the replicas to have everything' });
  }

  async stop(): Promise<void> {
    // Sentinels first, or they would begin a failover.
    await Promise.all(this.sentinels.map((sentinel) => sentinel.stop()));
    await Promise.all(this.nodes.map((node) => node.stop()));
    await Promise.all(this.fronts.map((front) => front.stop()));
  }

  private frontOf(node: RedisServer): TcpProxy {
    return this.fronts[this.nodes.indexOf(node)] as TcpProxy;
  }

  private async replicate(): Promise<void> {
    const [primary, ...replicas] = this.nodes as [RedisServer, ...RedisServer[]];
    const { host, port } = this.frontOf(primary);
    for (const replica of replicas) await command(replica, 'REPLICAOF', host, String(port));
    for (const node of this.nodes) await command(node, 'CONFIG', 'REWRITE');
    const linked = async (): Promise<boolean> =>
      (await Promise.all(replicas.map(replicationOf))).every((state) => state['master_link_status'] === 'up');
    await waitFor(linked, { timeoutMs: 20_000, message: 'the replicas to be linked' });
  }

  private async primaryOf(sentinel: RedisServer): Promise<RedisServer | undefined> {
    const reply = (await command(sentinel, 'SENTINEL', 'GET-MASTER-ADDR-BY-NAME', NAME)) as [string, string] | null;
    return this.nodes.find((node) => String(this.frontOf(node).port) === reply?.[1]);
  }

  private async isSettled(): Promise<boolean> {
    const primary = await this.primary();
    const nodes = this.nodes.filter(({ responsive }) => responsive);
    const states = await Promise.all(nodes.map(replicationOf));
    const front = String(this.frontOf(primary).port);
    const placed = nodes.every((node, i) => {
      const state = states[i] as Record<string, string>;
      return node === primary ? state['role'] === 'master' : state['master_port'] === front && state['master_link_status'] === 'up';
    });
    return placed && (await this.sentinelsAgree(primary));
  }

  private async sentinelsAgree(primary: RedisServer): Promise<boolean> {
    const sentinels = this.sentinels.filter(({ responsive }) => responsive);
    const infos = await Promise.all(sentinels.map((sentinel) => command(sentinel, 'INFO', 'sentinel')));
    const expected = `status=ok,address=127.0.0.1:${String(this.frontOf(primary).port)},slaves=${String(this.nodes.length - 1)},sentinels=${String(this.sentinels.length)}`;
    return infos.every((info) => (fieldsOf(info)['master0'] ?? '').includes(expected));
  }
}

async function hurry(sentinel: RedisServer): Promise<void> {
  await command(sentinel, 'SENTINEL', 'DEBUG', ...HURRY);
}

function sentinelConfig(port: number, quorum: number, downAfterMs: number): string {
  return [
    `sentinel monitor ${NAME} 127.0.0.1 ${String(port)} ${String(quorum)}`,
    `sentinel down-after-milliseconds ${NAME} ${String(downAfterMs)}`,
    `sentinel failover-timeout ${NAME} 2000`,
    `sentinel parallel-syncs ${NAME} 5`,
    '',
  ].join('\n');
}
