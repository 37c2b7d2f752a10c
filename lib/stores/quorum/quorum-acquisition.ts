import { jittered } from '../../time/backoff.js';
import { StoreError, type AcquireRequest, type Busy, type Granted, type RenewRequest, type RenewResult } from '../lease-store.js';
import type { HolderBook, Page } from './holder-book.js';
import { Round, type RoundParts } from './round.js';
import { ttlRefusal } from './round-outcome.js';

/** Those who have divided the nodes among them try again at once, so many times and each at a moment of his own; after that the caller's own wait goes on. */
const MOST_SPLITS = 3;
const SPLIT_PAUSE_MS = 2;

const givenUp = (): StoreError => new StoreError('transient', 'the try was given up');

/** Tries for one store: of each holder one at a time, and again after a split vote. */
export class QuorumAcquisition {
  constructor(
    private readonly parts: RoundParts,
    private readonly book: HolderBook,
    private readonly renew: (request: RenewRequest) => Promise<RenewResult>,
  ) {}

  /** @throws StoreError */
  async acquire({ wait: _, ...request }: AcquireRequest): Promise<Granted | Busy> {
    const refusal = ttlRefusal(request.ttlMs, this.parts.memoryLimits);
    if (refusal) throw refusal;
    const page = this.book.open(request.key, request.holderId, request.ttlMs);
    const startedAt = this.parts.clock.monotonic();
    // Asked again while the first try runs, it is the same try.
    page.running ??= this.settle(page, request).finally(() => {
      page.running = undefined;
      void page.round?.over.then(() => this.book.tidy(request.key, request.holderId));
    });
    const { reply, endsAt } = await page.running;
    if (reply.kind !== 'granted') return reply;
    return { ...reply, ttlMs: Math.min(request.ttlMs, Math.floor(endsAt - startedAt)) };
  }

  private async settle(page: Page, request: AcquireRequest): Promise<{ reply: Granted | Busy; endsAt: number }> {
    const { clock } = this.parts;
    const { ends } = page;
    const again = page.won === undefined ? undefined : await this.again(page, page.won, request);
    if (again) return again;
    const giveUpAt = clock.monotonic() + 0.9 * Math.max(request.ttlMs / 6, 50);
    for (let splits = 0; ; splits++) {
      if (page.round?.isDirty) page.retired += 1;
      const round = (page.round = new Round(this.parts, { ...request, holderId: this.book.idOf(request.key, request.holderId) }, giveUpAt));
      const outcome = page.ends === ends ? await round.run() : givenUp();
      if (outcome instanceof StoreError) throw outcome;
      if (outcome.kind === 'granted') {
        const { fencingToken, endsAt } = outcome;
        page.won = fencingToken;
        return { reply: { kind: 'granted', fencingToken, ttlMs: request.ttlMs }, endsAt };
      }
      const { split, ...busy } = outcome;
      const pauseMs = jittered(SPLIT_PAUSE_MS * 4 ** splits);
      if (!split || splits >= MOST_SPLITS || clock.monotonic() + 2 * pauseMs >= giveUpAt) return { reply: busy, endsAt: 0 };
      await new Promise<void>((resolve) => void clock.setTimer(resolve, pauseMs));
    }
  }

  /** Asked again by the one who has it: the same token, and the full ttl; `undefined` when it is over. */
  private async again(page: Page, fencingToken: number, request: AcquireRequest): Promise<{ reply: Granted; endsAt: number } | undefined> {
    const { key, holderId, ttlMs } = request;
    const sentAt = this.parts.clock.monotonic();
    const result = await this.renew({ key, holderId, fencingToken, ttlMs });
    if (result.kind === 'unknown') throw result.error;
    if (result.kind === 'held') return { reply: { kind: 'granted', fencingToken, ttlMs }, endsAt: sentAt + ttlMs };
    page.round?.end();
    page.won = undefined;
    return undefined;
  }
}
