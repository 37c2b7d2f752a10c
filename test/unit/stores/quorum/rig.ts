import type { AcquireRequest, Busy, Granted, LeaseStore, Queued } from '../../../../lib/stores/lease-store.js';
import { MemoryLeaseStore } from '../../../../lib/stores/memory/memory-lease-store.js';
import type { ConfirmResult, NodeMemory, QuorumNode, Recalled } from '../../../../lib/stores/quorum-node.js';
import type { QuorumOptions } from '../../../../lib/stores/quorum/quorum-options.js';
import { QuorumStore } from '../../../../lib/stores/quorum/quorum-store.js';
import { FaultyLeaseStore } from '../../../../lib/testing/faulty-lease-store.js';
import { ManualClock } from '../../../../lib/testing/manual-clock.js';

export { errorOf } from '../../../support/rejection.js';

/** A node in memory that can be restarted, with a clock that may be set apart from the others'. */
export class TestNode {
  readonly clock: ManualClock;
  /** How long it has remembered everything; Infinity for ever. */
  remembersMs: number | undefined = Infinity;
  inner!: MemoryLeaseStore;
  readonly faulty: FaultyLeaseStore;
  private run = 0;

  constructor(
    private readonly name: string,
    shared: ManualClock,
    skewMs = 0,
  ) {
    this.clock = skewMs === 0 ? shared : skewed(shared, skewMs);
    this.restart(Infinity);
    // The calls of a node go to whatever it is now.
    const now = new Proxy({} as LeaseStore, { get: (_, property) => this.get(property) });
    this.faulty = new FaultyLeaseStore(now, { clock: shared });
  }

  /** Everything is forgotten; it has been up for so long. */
  restart(remembersMs: number): void {
    this.inner = new MemoryLeaseStore({ clock: this.clock });
    this.remembersMs = remembersMs;
    this.run += 1;
  }

  /** Nothing reaches it, and nothing comes back. */
  hang(): void {
    for (const verb of ['acquire', 'confirm', 'renewNode', 'recall', 'release', 'leave', 'inspect', 'forceRelease', 'ping'] as const)
      this.faulty.dropRequest(verb, Infinity);
  }

  async tokenOf(key: string): Promise<number> {
    return (await this.inner.quorumNode.recall({ key, memory: false })).fence;
  }

  async holderOf(key: string): Promise<string | undefined> {
    return (await this.inner.inspect(key))?.holderTag;
  }

  private get(property: string | symbol): unknown {
    if (property === 'quorumNode') return this.node();
    const value = this.inner[property as keyof MemoryLeaseStore] as unknown;
    return typeof value === 'function'
      ? (...args: unknown[]) => (this.inner[property as 'acquire'] as (...a: unknown[]) => unknown)(...args)
      : value;
  }

  private node(): QuorumNode {
    const memory = (): NodeMemory => ({ run: `${this.name}.${this.run}`, rememberedMs: this.remembersMs });
    const tell = <T extends ConfirmResult | Recalled>(result: T): T =>
      'kind' in result && result.kind !== 'confirmed' ? result : { ...result, memory: memory() };
    return {
      confirm: async (request) => tell(await this.inner.quorumNode.confirm(request)),
      renew: (requests) => this.inner.quorumNode.renew(requests),
      recall: async (request) => tell(await this.inner.quorumNode.recall(request)),
    };
  }
}

function skewed(clock: ManualClock, ms: number): ManualClock {
  return new Proxy(clock, {
    get: (target, property) => {
      if (property === 'wall') return () => target.wall() + ms;
      const value = Reflect.get(target, property) as unknown;
      return typeof value === 'function' ? (value as () => unknown).bind(target) : value;
    },
  });
}

let counter = 0;

/** A quorum of nodes in memory, on a clock that stands still. */
export class QuorumRig {
  readonly clock = new ManualClock();
  readonly nodes: TestNode[];
  readonly store: QuorumStore;

  constructor(
    nodes = 3,
    private readonly options: QuorumOptions = {},
    skewsMs: readonly number[] = [],
  ) {
    this.nodes = Array.from({ length: nodes }, (_, i) => new TestNode(String(i + 1), this.clock, skewsMs[i]));
    this.store = this.another();
  }

  /** The same nodes, seen by another process. */
  another(order: readonly number[] = this.nodes.map((_, i) => i)): QuorumStore {
    const stores = order.map((i) => this.nodes[i]!.faulty);
    return new QuorumStore(stores, { clock: this.clock, longestTtl: '1d', ...this.options });
  }

  ask(key = `key-${++counter}`, more: Partial<AcquireRequest> = {}): AcquireRequest {
    const n = String(++counter);
    return { key, holderId: `secret-${n}`, holderTag: `tag-${n}`, holder: `host:${n}`, ttlMs: 30_000, ...more };
  }

  async take(key?: string, more: Partial<AcquireRequest> = {}, store = this.store): Promise<AcquireRequest & { fencingToken: number }> {
    const request = this.ask(key, more);
    return { ...request, fencingToken: granted(await this.passing(store.acquire(request))).fencingToken };
  }

  /** Lets time go by until the call has settled. */
  async passing<T>(call: Promise<T>, mostMs = 20_000): Promise<T> {
    let settled = false;
    const over = (): void => void (settled = true);
    call.then(over, over);
    for (let ms = 0; ms < mostMs; ms += 5) {
      await this.clock.settle();
      if (settled) return call;
      await this.clock.advanceAsync(5);
    }
    throw new Error(`Nothing after ${mostMs} ms.`);
  }

  /** How long the call takes. */
  async timeOf(call: Promise<unknown>): Promise<number> {
    const start = this.clock.monotonic();
    await this.passing(call);
    return this.clock.monotonic() - start;
  }

  holders(key: string): Promise<(string | undefined)[]> {
    return Promise.all(this.nodes.map((node) => node.holderOf(key)));
  }
}

export function granted(reply: Granted | Busy | Queued): Granted {
  if (reply.kind !== 'granted') throw new Error(`Expected a grant, got ${JSON.stringify(reply)}`);
  return reply;
}
