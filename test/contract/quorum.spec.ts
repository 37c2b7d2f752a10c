import { QuorumStore } from '../../lib/stores/quorum/quorum-store.js';
import { MemoryLeaseStore } from '../../lib/stores/memory/memory-lease-store.js';
import { ManualClock } from '../../lib/testing/manual-clock.js';
import type { Clock } from '../../lib/time/clock.js';
import { describeLeaseStore, type StoreHarness } from './store-contract.js';

/** What a quorum does not offer. */
const without = { line: false, instants: false, effects: false, jobs: false } as const;

/** A node whose memory the suite may reach into. */
class OpenNode extends MemoryLeaseStore {
  constructor(private readonly time: Clock) {
    super({ clock: time });
  }

  lose(what: 'leases' | 'fences', key: string): void {
    this[what].delete(key);
  }

  fence(key: string): { token: number; ttlMs: number } | undefined {
    const fence = this.fences.get(key, this.time.wall());
    return fence && { token: fence.token, ttlMs: fence.expiresAt - this.time.wall() };
  }

  putFence(key: string, token: number): void {
    this.fences.set(key, { token, expiresAt: this.time.wall() + 86_400_000 }, this.time.wall());
  }
}

/** The fence of the quorum: what a majority remembers at least. */
export function fenceOf(fences: readonly ({ token: number; ttlMs: number } | undefined)[]): { token: number; ttlMs: number } | undefined {
  const sorted = [...fences].sort((a, b) => (b?.token ?? 0) - (a?.token ?? 0));
  return sorted[Math.floor(fences.length / 2)];
}

async function onMemory(): Promise<StoreHarness> {
  const clock = new ManualClock();
  const nodes = [new OpenNode(clock), new OpenNode(clock), new OpenNode(clock)];
  const [store, rival] = [new QuorumStore(nodes, { clock, longestTtl: '1d' }), new QuorumStore(nodes, { clock, longestTtl: '1d' })];
  return {
    store,
    rival,
    slackMs: 0,
    advance: (ms) => clock.advanceAsync(ms),
    stepClock: (ms) => clock.stepWall(ms),
    loseKey: async (key) => nodes.forEach((node) => node.lose('leases', key)),
    loseFence: async (key) => nodes.forEach((node) => node.lose('fences', key)),
    readFence: async (key) => fenceOf(nodes.map((node) => node.fence(key))),
    putFence: async (key, value) => nodes.forEach((node) => node.putFence(key, Number(value))),
    close: async () => {
      await Promise.all([store.close(), rival.close()]);
    },
  };
}

describeLeaseStore('quorum of three in memory', onMemory, { ...without, virtualTime: true, runs: 300 });
