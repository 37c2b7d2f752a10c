import { ManualClock } from '../../lib/testing/manual-clock.js';
import { MemoryLeaseStore } from '../../lib/stores/memory/memory-lease-store.js';
import { describeLeaseStore, type StoreHarness } from './store-contract.js';

/** A store whose memory the suite may reach into. */
class OpenMemoryStore extends MemoryLeaseStore {
  constructor(private readonly time: ManualClock) {
    super({ clock: time });
  }

  harness(): StoreHarness {
    const { time, leases, fences } = this;
    return {
      store: this,
      rival: this,
      slackMs: 0,
      advance: (ms) => time.advanceAsync(ms),
      stepClock: (ms) => time.stepWall(ms),
      loseKey: async (key) => void leases.delete(key),
      loseFence: async (key) => void fences.delete(key),
      readFence: async (key) => {
        const fence = fences.get(key, time.wall());
        return fence && { token: fence.token, ttlMs: fence.expiresAt - time.wall() };
      },
      putFence: async (key, value) => fences.set(key, { token: Number(value), expiresAt: time.wall() + 86_400_000 }, time.wall()),
      close: () => this.close(),
    };
  }
}

// There is nothing immortal and nothing foreign in a map of entries that all carry their end.
describeLeaseStore('memory', async () => new OpenMemoryStore(new ManualClock()).harness(), { virtualTime: true, runs: 300 });
