import { MemoryLeaseStore } from '../../lib/stores/memory/memory-lease-store.js';
import { ManualClock } from '../../lib/testing/manual-clock.js';
import type { Clock } from '../../lib/time/clock.js';
import { SystemClock } from '../../lib/time/system-clock.js';
import { describeLeaseStore, type StoreHarness } from './store-contract.js';

/** A store whose memory the suite may reach into. */
class OpenMemoryStore extends MemoryLeaseStore {
  constructor(private readonly time: Clock) {
    super({ clock: time });
  }

  /** Nothing in it is immortal or foreign: it is a map of entries that all carry their end. */
  harness(moves: Pick<StoreHarness, 'advance' | 'stepClock' | 'slackMs'>): StoreHarness {
    const { time, leases, fences } = this;
    return {
      ...moves,
      store: this,
      rival: this,
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

async function onManualClock(): Promise<StoreHarness> {
  const clock = new ManualClock();
  return new OpenMemoryStore(clock).harness({
    slackMs: 0,
    advance: (ms) => clock.advanceAsync(ms),
    stepClock: (ms) => clock.stepWall(ms),
  });
}

async function onSystemClock(): Promise<StoreHarness> {
  const clock = new SystemClock();
  const pass = async (ms: number): Promise<void> => {
    const end = clock.wall() + ms;
    while (clock.wall() < end) await new Promise((resolve) => setTimeout(resolve, end - clock.wall()));
  };
  return new OpenMemoryStore(clock).harness({ slackMs: 5000, advance: pass });
}

describeLeaseStore('memory', onManualClock, { virtualTime: true, runs: 300 });
// Also proves that the suite itself holds on a clock that it cannot move.
describeLeaseStore('memory on the clock of the machine', onSystemClock, { runs: 20 });
