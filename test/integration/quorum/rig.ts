import { afterAll, afterEach, beforeAll } from '@jest/globals';
import { QuorumLeaseStore, type QuorumLeaseStoreOptions, type QuorumNodeOption } from '../../../lib/quorum-lease-store.js';
import { StoreError, type AcquireRequest, type Busy, type Granted, type LeaseStore } from '../../../lib/stores/lease-store.js';
import { LeaseKeys } from '../../../lib/stores/redis/keys.js';
import { RedisLeaseStore } from '../../../lib/stores/redis/redis-lease-store.js';
import type { RedisServer, RedisServerOptions } from '../../support/redis-server.js';
import { startServers } from '../../support/topologies/independent-nodes.js';
import { TcpProxy } from '../../support/tcp-proxy.js';
import { waitFor } from '../../support/wait-for.js';

export { errorOf } from '../../support/rejection.js';

/** A node that keeps everything through a restart. */
export const DURABLE: RedisServerOptions = { args: ['--appendonly', 'yes', '--appendfsync', 'always'] };
/** A node that keeps nothing. */
export const FORGETFUL: RedisServerOptions = {};

const NAMESPACE = 'quorum';
const keys = new LeaseKeys(NAMESPACE);
let counter = 0;

/** Real nodes with a proxy in front of each, and quorums that reach them through the proxies. */
export class NodesRig {
  servers: readonly RedisServer[] = [];
  proxies: readonly TcpProxy[] = [];
  private readonly stores: LeaseStore[] = [];

  constructor(nodes: readonly RedisServerOptions[]) {
    beforeAll(async () => {
      this.servers = await startServers(nodes);
      this.proxies = await Promise.all(this.servers.map((server) => TcpProxy.start(server)));
    });
    afterEach(async () => {
      for (const proxy of this.proxies) proxy.pass();
      await Promise.all(this.stores.splice(0).map((store) => store.close()));
      await Promise.all(this.servers.filter(({ responsive }) => !responsive).map((server) => (server.thaw(), server.restart())));
    });
    afterAll(async () => {
      await Promise.all(this.proxies.map((proxy) => proxy.stop()));
      await Promise.all(this.servers.map((server) => server.stop()));
    });
  }

  get urls(): string[] {
    return this.proxies.map(({ url }) => url);
  }

  /** A process of the fleet. */
  quorum(options: QuorumLeaseStoreOptions = {}, nodes: readonly QuorumNodeOption[] = this.urls): QuorumLeaseStore {
    return this.track(new QuorumLeaseStore(nodes, { namespace: NAMESPACE, nodeTimeout: '1s', ...options }));
  }

  /** One node alone, behind the back of the quorum. */
  node(i: number): RedisLeaseStore {
    return this.track(new RedisLeaseStore({ connection: this.servers[i]!.url, namespace: NAMESPACE }));
  }

  track<T extends LeaseStore>(store: T): T {
    this.stores.push(store);
    return store;
  }

  /** Nothing reaches the node any more, and nothing comes back. */
  isolate(i: number): void {
    this.proxies[i]!.refuse().cut();
  }

  ask(key = `key-${++counter}`, more: Partial<AcquireRequest> = {}): AcquireRequest {
    const n = String(++counter);
    return { key, holderId: `secret-${n}`, holderTag: `tag-${n}`, holder: `host:${n}`, ttlMs: 1000, ...more };
  }

  async take(store: LeaseStore, key?: string, more: Partial<AcquireRequest> = {}): Promise<AcquireRequest & { fencingToken: number }> {
    const request = this.ask(key, more);
    return { ...request, fencingToken: grantedOf(await store.acquire(request)).fencingToken };
  }

  /** Asks, as one who waits does, until it is granted: on a busy machine a connection may take a while. */
  takeAtLast(
    store: LeaseStore,
    key = `key-${++counter}`,
    more: Partial<AcquireRequest> = {},
  ): Promise<AcquireRequest & { fencingToken: number }> {
    return waitFor(() => this.take(store, key, more), { timeoutMs: 15_000, intervalMs: 20, message: 'the lease' });
  }

  /** Asks until it is refused for this reason; a grant is never right. */
  async refusal(store: LeaseStore, why: RegExp, key = `key-${++counter}`): Promise<StoreError> {
    const refused = async (): Promise<StoreError | undefined> => {
      const outcome = await store.acquire(this.ask(key)).catch((error: unknown) => error as StoreError);
      if ('kind' in outcome && outcome.kind === 'granted') granted = true;
      return outcome instanceof StoreError && why.test(outcome.message) ? outcome : undefined;
    };
    let granted = false;
    const error = await waitFor(async () => granted || (await refused()), { timeoutMs: 15_000, message: `a refusal like ${why}` });
    if (error === true) throw new Error('It was granted.');
    return error as StoreError;
  }

  async holderOf(i: number, key: string): Promise<string | undefined> {
    return (await this.node(i).inspect(key))?.holderTag;
  }

  async fenceOf(i: number, key: string): Promise<number> {
    return Number(/\d{6,}/.exec(await this.servers[i]!.ask('GET', keys.of(key)[1]))?.[0] ?? 0);
  }

  /** Resolves when the node has been up for so long, by its own word. */
  async upFor(i: number, seconds: number): Promise<void> {
    const uptime = async (): Promise<number> => Number(/\d+/.exec(await this.servers[i]!.ask('EVAL', UPTIME, '0'))?.[0] ?? 0);
    await waitFor(async () => (await uptime()) >= seconds, {
      timeoutMs: 15_000,
      intervalMs: 50,
      message: `node ${i} to be up for ${seconds} s`,
    });
  }
}

const UPTIME = "return tonumber(string.match(redis.call('INFO', 'server'), 'uptime_in_seconds:(%d+)'))";

export function grantedOf(reply: Granted | Busy | { kind: string }): Granted {
  if (reply.kind !== 'granted') throw new Error(`Expected a grant, got ${JSON.stringify(reply)}`);
  return reply as Granted;
}
