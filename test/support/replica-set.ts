import { RedisServer, type RedisServerOptions } from './redis-server.js';
import { waitFor } from './wait-for.js';

/** Arguments of a server that is to be a replica soon: it is given its data at once, and not together with others after 5 s. */
export const REPLICA = ['--repl-diskless-sync-delay', '0', '--repl-ping-replica-period', '1'];

/** A primary and its replicas, without anybody who would promote one. */
export class ReplicaSet {
  private constructor(
    readonly primary: RedisServer,
    readonly replicas: readonly RedisServer[],
  ) {}

  static async start(count: number, options: RedisServerOptions = {}): Promise<ReplicaSet> {
    const args = [...REPLICA, ...(options.args ?? [])];
    const servers = await Promise.all(Array.from({ length: 1 + count }, () => RedisServer.start({ ...options, args })));
    const [primary, ...replicas] = servers as [RedisServer, ...RedisServer[]];
    const set = new ReplicaSet(primary, replicas);
    try {
      for (const replica of replicas) await set.follow(replica);
      return set;
    } catch (error) {
      await set.stop();
      throw error;
    }
  }

  /** Resolves when the replica has all that the primary has, and the primary sends it what is new, by way of a proxy if one is named. */
  async follow(replica: RedisServer, via: { readonly host: string; readonly port: number } = this.primary): Promise<void> {
    await replica.ask('REPLICAOF', via.host, String(via.port));
    await this.inStep(replica);
  }

  async inStep(replica: RedisServer): Promise<void> {
    const isInStep = async (): Promise<boolean> => {
      const link = (await replica.ask('INFO', 'replication')).includes('master_link_status:up');
      const told = await this.primary.ask('INFO', 'replication');
      const [, reached] = new RegExp(`port=${String(replica.port)},state=online,offset=(\\d+)`).exec(told) ?? [];
      const [, written] = /master_repl_offset:(\d+)/.exec(told) ?? [];
      // Within a ping of the primary: it has begun to say how far it is.
      return link && Number(reached) > 0 && Number(written) - Number(reached) < 200;
    };
    await waitFor(isInStep, { timeoutMs: 30_000, intervalMs: 20, message: 'the replica to be in step' });
  }

  async stop(): Promise<void> {
    for (const server of this.replicas) server.thaw();
    await Promise.all([this.primary, ...this.replicas].map((server) => server.stop()));
  }
}
