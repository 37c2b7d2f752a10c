import type { RedisOptions } from 'ioredis';
import { LeaseOptionsError } from './errors/lease-options.error.js';
import type { LeaseStore } from './stores/lease-store.js';
import { checkNodes, resolveQuorumOptions, type QuorumOptions, type ResolvedQuorumOptions } from './stores/quorum/quorum-options.js';
import { QuorumStore } from './stores/quorum/quorum-store.js';
import { planConnection, type ConnectionPlan, type RedisClientLike } from './stores/redis/connection-option.js';
import { RedisLeaseStore } from './stores/redis/redis-lease-store.js';

/**
 * One node: a URL, ioredis options, a ready ioredis client (5 or 6; a duplicate of it is used, and it stays yours), or a store that
 * can be a node, such as `RedisLeaseStore` or `MemoryLeaseStore`, which is closed with the quorum. Never Sentinel or Cluster: a
 * node must not change into another server behind the quorum's back.
 */
export type QuorumNodeOption = string | RedisOptions | RedisClientLike | LeaseStore;

/** Options of `QuorumLeaseStore`. Every process that shares its leases gives the same nodes and the same options. */
export interface QuorumLeaseStoreOptions extends QuorumOptions {
  /** Prefix of every key on every node; no braces. Default: `lease`. */
  readonly namespace?: string | undefined;
}

/**
 * Leases that a majority of independent Redis servers hold, with fencing tokens: a server that dies, hangs or loses its data costs
 * nothing as long as a majority goes on.
 *
 * ```ts
 * LeaseModule.forRoot({ store: new QuorumLeaseStore(['redis://a:6379', 'redis://b:6379', 'redis://c:6379']) });
 * ```
 *
 * Give three or five servers, each on a machine of its own and none a replica of another. A majority is floor(n / 2) + 1: three
 * outlive the loss of one, five of two; a fourth or sixth adds nothing but one more that can fail. A lease takes two round trips
 * to all nodes at once, and is held by every node that answers in time.
 *
 * What it does not promise:
 * - Two holders at once are ruled out only while the clocks of the nodes run at the same rate (1 % is allowed for) and none is set;
 *   and a holder that was paused does not know. What it writes must be guarded by the fencing token, as with a single Redis.
 * - A node that restarts has forgotten, unless it runs with `appendonly yes` and `appendfsync always`. It does not vote for
 *   `longestTtl` after each start, also the first: so a fleet whose nodes were all started together grants nothing for so long.
 *   `FLUSHALL`, evicted keys (set `noeviction`) and a disk that lies are not noticed.
 * - For `fenceRetention` after a node has restarted its vote needs the word of a majority that remembers: of three nodes, none of the
 *   other two may be lost in that time. Where a majority has forgotten within it, only their clocks keep tokens in order.
 *   Nodes that keep every write (see above) know neither limit: that is how to run a quorum.
 * - Waiters are not served in the order in which they came: they look again every 20 to 250 ms.
 * - `@SingletonCron`, `once` and the `retryAfter` of jobs need a single Redis, and are refused.
 *
 * @throws LeaseOptionsError for fewer than three nodes, for a node that is given twice, and for one that cannot be a node
 */
export class QuorumLeaseStore extends QuorumStore {
  constructor(nodes: readonly QuorumNodeOption[], options: QuorumLeaseStoreOptions = {}) {
    const { namespace, ...quorum } = options;
    checkNodes(nodes);
    const resolved = resolveQuorumOptions(quorum);
    const made = nodes.map((node, i) => makeNode(node, i, namespace, resolved));
    checkNodes(made, (node) => (node as MadeNode).address ?? node);
    super(
      made.map(({ store }) => store),
      quorum,
      made.map(({ name }) => name),
    );
  }
}

interface MadeNode {
  readonly store: LeaseStore;
  readonly name: string;
  /** Where it is; `undefined` where that is not known. */
  readonly address?: string;
}

function makeNode(node: QuorumNodeOption, i: number, namespace: string | undefined, options: ResolvedQuorumOptions): MadeNode {
  const name = `node ${String(i + 1)}`;
  if (isStore(node)) return { store: node, name };
  const { clock, nodeTimeoutMs, fenceRetentionMs } = options;
  const plan = plannedNode(node, name);
  const address = addressOf(plan);
  // Shorter than the node's time limit, so that it says why it could not be asked.
  const patienceMs = Math.ceil(nodeTimeoutMs * 0.8);
  const store = new RedisLeaseStore({
    connection: node,
    fenceRetentionMs,
    patienceMs,
    clock,
    ...(namespace === undefined ? {} : { namespace }),
  });
  return { store, name: `${name} (${address})`, address };
}

function plannedNode(node: string | RedisOptions | RedisClientLike, name: string): ConnectionPlan {
  let plan: ConnectionPlan;
  try {
    plan = planConnection(node);
  } catch (error) {
    const why = error instanceof LeaseOptionsError ? error.message : String(error);
    throw new LeaseOptionsError('nodes', `The quorum cannot use ${name}: ${why}`, { cause: error });
  }
  const options = plan.kind === 'client' ? plan.client.options : plan.kind === 'options' ? plan.options : undefined;
  const isCluster = plan.kind === 'cluster' || (plan.kind === 'client' && plan.client.isCluster === true);
  // ioredis itself writes null where there are none.
  if (!isCluster && (options?.sentinels ?? undefined) === undefined) return plan;
  throw new LeaseOptionsError(
    'nodes',
    `The quorum cannot use ${name}: it is a ${isCluster ? 'Cluster' : 'Sentinel group'}, in which a server that has forgotten may take over. Give single servers.`,
  );
}

/** Host, port and database, in one form; never a password. */
function addressOf(plan: ConnectionPlan): string {
  if (plan.kind === 'url') {
    if (plan.url.startsWith('/')) return plan.url;
    const { hostname, port, pathname } = new URL(plan.url);
    return place(hostname, port, pathname.slice(1));
  }
  const { host, port, path, db } = (
    plan.kind === 'client' ? plan.client.options : plan.kind === 'options' ? plan.options : {}
  ) as RedisOptions;
  return path ?? place(host, port, db);
}

function place(host = 'localhost', port: string | number = 6379, db: string | number = 0): string {
  const where = `${host === 'localhost' ? '127.0.0.1' : host}:${String(port === '' ? 6379 : port)}`;
  return Number(db) === 0 ? where : `${where}/${String(db)}`;
}

function isStore(node: unknown): node is LeaseStore {
  return typeof node === 'object' && node !== null && 'acquire' in node && 'renew' in node && 'capabilities' in node;
}
