import { describe, expect, it } from '@jest/globals';
import type { BeginReply, BeginRequest, InstantGranted, InstantStore, RunOutcome } from '../../../lib/stores/instant-store.js';
import { ask, freshKey, HOUR_MS, LONG, SHORT, storeErrorKind, take, type Features, type StoreHarness } from './harness.js';

const LIFE_MS = 25 * HOUR_MS;

/** The suite of stores that remember instants. */
export function instantsContract(harness: () => StoreHarness, features: Features): void {
  const instants = (): InstantStore => harness().store.instants as InstantStore;
  const rival = (): InstantStore => harness().rival.instants as InstantStore;

  /** The store's clock: an instant that lies far ahead is answered with the time and changes nothing. */
  const serverTime = async (): Promise<number> => (await instants().begin(request(freshKey(), 8e15))).serverTimeMs;
  const request = (key: string, instant: number, overrides: Partial<BeginRequest> = {}): BeginRequest => {
    const asked = { ...ask(key), instant, schedule: '* * * * *', lifeMs: LIFE_MS, purpose: 'due' as const, rerun: false, ...overrides };
    return asked;
  };
  const finish = (asked: BeginRequest, outcome: RunOutcome = 'ok', atLeastForMs = 0): Promise<{ kind: string }> =>
    instants().finish({ key: asked.key, holderId: asked.holderId, fencingToken: 0, outcome, atLeastForMs, lifeMs: LIFE_MS });
  const granted = (reply: BeginReply): InstantGranted => {
    if (reply.kind !== 'granted') throw new Error(`Expected a grant, got ${JSON.stringify(reply)}`);
    return reply;
  };
  /** Runs an instant from begin to end. */
  const run = async (key: string, instant: number, outcome: RunOutcome = 'ok'): Promise<BeginRequest> => {
    const asked = request(key, instant);
    granted(await instants().begin(asked));
    await finish(asked, outcome);
    return asked;
  };

  describe('instants', () => {
    it('grants an instant with token, ttl and the time of the store', async () => {
      const now = await serverTime();
      const reply = granted(await instants().begin(request(freshKey('job'), now - 5)));
      expect(Number.isSafeInteger(reply.fencingToken)).toBe(true);
      expect(reply).toMatchObject({ ttlMs: LONG, rerun: false });
      expect(reply.serverTimeMs).toBeGreaterThanOrEqual(now);
    });

    it('grants an instant once, to whomever asks and however soon the first has finished', async () => {
      const [key, instant] = [freshKey('job'), await serverTime()];
      await run(key, instant);
      expect(await rival().begin(request(key, instant))).toMatchObject({ kind: 'done', state: 'ok', by: { holder: expect.any(String) } });
    });

    it('grants one of many who ask at the same moment', async () => {
      const [key, instant] = [freshKey('job'), await serverTime()];
      const replies = await Promise.all(Array.from({ length: 10 }, (_, i) => (i % 2 ? instants() : rival()).begin(request(key, instant))));
      expect(replies.filter(({ kind }) => kind === 'granted')).toHaveLength(1);
      expect(replies.filter(({ kind }) => kind === 'running')).toHaveLength(9);
    });

    it('tells how early it is, and grants nothing before its time', async () => {
      const [key, now] = [freshKey('job'), await serverTime()];
      const reply = await instants().begin(request(key, now + HOUR_MS));
      expect(reply.kind).toBe('early');
      expect((reply as { inMs: number }).inMs).toBe(now + HOUR_MS - reply.serverTimeMs);
      expect(await instants().history(key)).toEqual([]);
    });

    it('does not run an instant older than the newest that was decided', async () => {
      const [key, now] = [freshKey('job'), await serverTime()];
      await run(key, now);
      expect(await instants().begin(request(key, now - 1))).toMatchObject({ kind: 'done', state: 'past' });
    });

    it('does not run what is older than half the life of its record', async () => {
      const key = freshKey('job');
      const reply = await instants().begin(request(key, (await serverTime()) - LIFE_MS / 2 - 1000));
      expect(reply).toMatchObject({ kind: 'done', state: 'past' });
    });

    it('grants the same holder the same instant again, with the same token and the full ttl', async () => {
      const { slackMs } = harness();
      const asked = request(freshKey('job'), await serverTime(), { ttlMs: 10_000 });
      const first = granted(await instants().begin(asked));
      const again = granted(await rival().begin({ ...asked, ttlMs: LONG }));
      expect(again.fencingToken).toBe(first.fencingToken);
      expect((await harness().store.inspect(asked.key))?.remainingMs).toBeGreaterThanOrEqual(LONG - slackMs);
      expect(await instants().history(asked.key)).toHaveLength(1);
    });

    it('grants the same holder the same instant again when its ttl is over: it had no answer, so it never ran', async () => {
      const { advance } = harness();
      const asked = request(freshKey('job'), await serverTime(), { ttlMs: SHORT });
      const first = granted(await instants().begin(asked));
      await advance(SHORT + 1);
      expect(granted(await instants().begin(asked)).fencingToken).toBeGreaterThan(first.fencingToken);
      expect(await instants().history(asked.key)).toHaveLength(1);
    });

    it('counts an instant that comes while the lease is held as missed, once, and says who holds it', async () => {
      const [key, now] = [freshKey('job'), await serverTime()];
      const running = request(key, now - 2);
      const { fencingToken } = granted(await instants().begin(running));
      const { holder, holderTag } = running;
      expect(await rival().begin(request(key, now - 1))).toMatchObject({ kind: 'missed', missed: 1, holder, holderTag, fencingToken });
      expect(await instants().begin(request(key, now - 1))).toMatchObject({ kind: 'done', state: 'missed' });
      expect(await instants().begin(request(key, now))).toMatchObject({ kind: 'missed', missed: 2 });
      await finish(running);
      expect(await instants().begin(request(key, now))).toMatchObject({ kind: 'done', state: 'missed' });
      expect(await instants().history(key)).toEqual([expect.objectContaining({ instant: now - 2, state: 'ok', missed: 2 })]);
    });

    it('is missed while an ordinary lease of the key is held', async () => {
      const [key, now] = [freshKey('job'), await serverTime()];
      const held = await take(harness().store, key);
      expect(await instants().begin(request(key, now))).toMatchObject({ kind: 'missed', holderTag: held.holderTag });
    });

    it('gives tokens that increase with those of ordinary leases of the key', async () => {
      const [key, now] = [freshKey('job'), await serverTime()];
      const asked = request(key, now - 1);
      const first = granted(await instants().begin(asked));
      await finish(asked);
      const held = await take(harness().store, key);
      await harness().store.release(held);
      const second = granted(await instants().begin(request(key, now)));
      expect(held.fencingToken).toBeGreaterThan(first.fencingToken);
      expect(second.fencingToken).toBeGreaterThan(held.fencingToken);
    });

    it('respects the floor, and refuses one that would poison the key', async () => {
      const [key, now] = [freshKey('job'), await serverTime()];
      const floor = (now + HOUR_MS) * 1000;
      expect(await storeErrorKind(instants().begin(request(key, now, { floor: (now + 48 * HOUR_MS) * 1000 })))).toBe('floor');
      expect(granted(await instants().begin(request(key, now, { floor }))).fencingToken).toBe(floor + 1);
    });
  });

  describe('the end of a run', () => {
    it.each(['ok', 'failed', 'interrupted'] as const)('writes %s and frees the lease in one step', async (outcome) => {
      const [key, instant] = [freshKey('job'), await serverTime()];
      const { holder, holderTag } = await run(key, instant, outcome);
      expect(await harness().store.inspect(key)).toBeUndefined();
      const [record] = await instants().history(key);
      expect(record).toMatchObject({ instant, state: outcome, holder, holderTag, missed: 0 });
      expect(record?.ended).toBeGreaterThanOrEqual(record?.started ?? Infinity);
      expect(await instants().begin(request(key, instant, { rerun: true }))).toMatchObject({ kind: 'done', state: outcome });
    });

    it('is safe to repeat, and touches neither the next run nor the next lease', async () => {
      const [key, now] = [freshKey('job'), await serverTime()];
      const first = await run(key, now - 1);
      const next = request(key, now);
      granted(await instants().begin(next));
      expect(await finish(first, 'failed')).toEqual({ kind: 'not-held' });
      expect((await harness().store.inspect(key))?.holderTag).toBe(next.holderTag);
      expect((await instants().history(key)).map(({ state }) => state)).toEqual(['running', 'ok']);
    });

    it('of a run that never began leaves the instant to whoever asks next', async () => {
      const [key, instant] = [freshKey('job'), await serverTime()];
      await run(key, instant, 'unstarted');
      const next = request(key, instant);
      granted(await rival().begin(next));
      expect(await instants().history(key)).toEqual([expect.objectContaining({ holderTag: next.holderTag, state: 'running' })]);
    });

    it("after atLeastFor: the lease is nobody's until then, and an instant in that time is missed", async () => {
      const { store, advance, slackMs } = harness();
      const [key, now] = [freshKey('job'), await serverTime()];
      const asked = request(key, now - 1);
      granted(await instants().begin(asked));
      expect(await finish(asked, 'ok', 2000)).toEqual({ kind: 'released' });
      const record = await store.inspect(key);
      expect(record).toMatchObject({ state: 'cooldown', holderTag: asked.holderTag });
      expect(record?.remainingMs).toBeLessThanOrEqual(2000);
      expect(record?.remainingMs).toBeGreaterThanOrEqual(2000 - slackMs);
      expect((await store.acquire(ask(key))).kind).toBe('busy');
      expect((await store.release({ ...asked, fencingToken: 0 })).kind).toBe('not-held');
      expect(await store.renew([{ ...asked, fencingToken: 1 }])).toEqual([expect.objectContaining({ kind: 'taken' })]);
      expect((await instants().begin(request(key, now))).kind).toBe('missed');
      await advance(2001);
      granted(await instants().begin(request(key, await serverTime())));
    });

    it('does not keep the lease when the run lasted longer than atLeastFor', async () => {
      const { store, advance } = harness();
      const asked = request(freshKey('job'), await serverTime());
      granted(await instants().begin(asked));
      await advance(SHORT);
      await finish(asked, 'ok', SHORT);
      expect(await store.inspect(asked.key)).toBeUndefined();
    });

    it('heals the fence, so that the next token is higher', async () => {
      const { store, loseFence } = harness();
      const asked = request(freshKey('job'), await serverTime(), { floor: ((await serverTime()) + HOUR_MS) * 1000 });
      const { fencingToken } = granted(await instants().begin(asked));
      await loseFence(asked.key);
      await finish(asked);
      expect((await take(store, asked.key)).fencingToken).toBeGreaterThan(fencingToken);
    });
  });

  describe('a crash', () => {
    const crash = async (): Promise<{ key: string; instant: number; token: number; asked: BeginRequest }> => {
      const asked = request(freshKey('job'), await serverTime(), { ttlMs: SHORT });
      const { fencingToken } = granted(await instants().begin(asked));
      await harness().advance(SHORT + 1);
      return { key: asked.key, instant: asked.instant, token: fencingToken, asked };
    };

    it('with rerun: another replica runs the same instant, with a higher token, and only one does', async () => {
      const { key, instant, token } = await crash();
      const next = request(key, instant, { rerun: true });
      const reply = granted(await rival().begin(next));
      expect(reply.rerun).toBe(true);
      expect(reply.fencingToken).toBeGreaterThan(token);
      expect((await instants().begin(request(key, instant, { rerun: true }))).kind).toBe('running');
      await finish(next);
      expect((await instants().history(key)).map(({ instant: at, state }) => [at, state])).toEqual([
        [instant, 'ok'],
        [instant, 'crashed'],
      ]);
    });

    it('without rerun: the instant is over, and says so', async () => {
      const { key, instant, asked } = await crash();
      expect(await instants().begin(request(key, instant))).toMatchObject({
        kind: 'done',
        state: 'crashed',
        by: { holderTag: asked.holderTag },
      });
      expect(await instants().history(key)).toEqual([expect.objectContaining({ instant, state: 'crashed' })]);
    });

    it('is not rerun once a newer instant was granted', async () => {
      const { key, instant } = await crash();
      await run(key, instant + 1);
      expect(await instants().begin(request(key, instant, { rerun: true }))).toMatchObject({ kind: 'done', state: 'past' });
    });

    it('a rerun waits while somebody else holds the key', async () => {
      const { key, instant } = await crash();
      const held = await take(harness().store, key);
      expect(await instants().begin(request(key, instant, { rerun: true }))).toMatchObject({ kind: 'running', holderTag: held.holderTag });
    });

    it('a holder that was only slow still says how its run ended, and frees nothing', async () => {
      const { key, asked } = await crash();
      expect(await finish(asked, 'interrupted')).toEqual({ kind: 'not-held' });
      expect(await instants().history(key)).toEqual([expect.objectContaining({ state: 'interrupted' })]);
    });
  });

  describe('a replica that has just come up', () => {
    it.each(['make-up', 'look'] as const)('runs nothing of a job that is new to the store, and remembers it (%s)', async (purpose) => {
      const [key, now] = [freshKey('job'), await serverTime()];
      expect(await instants().begin(request(key, now - 1, { purpose }))).toMatchObject({ kind: 'done', state: 'new' });
      expect(await instants().begin(request(key, now - 1))).toMatchObject({ kind: 'done', state: 'missed' });
      granted(await instants().begin(request(key, now, { purpose: 'make-up' })));
    });

    it('to make up: gets the newest instant that nobody has run', async () => {
      const [key, now] = [freshKey('job'), await serverTime()];
      await run(key, now - 50);
      expect(granted(await instants().begin(request(key, now, { purpose: 'make-up' }))).previous).toBe(now - 50);
    });

    it('to look: leaves it, and does not keep others from it', async () => {
      const [key, now] = [freshKey('job'), await serverTime()];
      await run(key, now - 50);
      expect(await instants().begin(request(key, now, { purpose: 'look' }))).toMatchObject({ kind: 'done', state: 'skipped' });
      granted(await rival().begin(request(key, now)));
    });
  });

  describe('what is remembered of a job', () => {
    it('is the schedule: who has another one is told, and told again until it is the same', async () => {
      const [key, now] = [freshKey('job'), await serverTime()];
      await run(key, now - 2);
      const other = request(key, now - 1, { schedule: '*/5 * * * *' });
      expect(await instants().begin(other)).toMatchObject({ kind: 'granted', otherSchedule: '* * * * *' });
      await finish(other);
      expect(await instants().begin(request(key, now - 1))).toMatchObject({ kind: 'done', otherSchedule: '*/5 * * * *' });
      await run(key, now);
      expect(await instants().begin(request(key, now))).not.toHaveProperty('otherSchedule');
    });

    it('is the last 100 runs, newest first', async () => {
      const [key, now] = [freshKey('job'), await serverTime()];
      for (let i = 0; i < 105; i++) await run(key, now - 200 + i, i % 2 ? 'ok' : 'failed');
      const runs = await instants().history(key);
      expect(runs).toHaveLength(100);
      expect(runs[0]).toMatchObject({ instant: now - 96, state: 'failed' });
      expect(runs[99]).toMatchObject({ instant: now - 195, state: 'ok' });
    });

    it('never tells the holder id', async () => {
      const [key, now] = [freshKey('job'), await serverTime()];
      const asked = request(key, now, { holderId: 'the-secret-of-this-run' });
      const said = [await instants().begin(asked), await rival().begin(request(key, now)), await instants().history(key)];
      expect(JSON.stringify(said)).not.toContain('the-secret-of-this-run');
    });

    it('keeps strange names and descriptions apart', async () => {
      const now = await serverTime();
      const [one, two] = [`${freshKey('job')} {a}`, `${freshKey('job')} {b}\n`];
      const asked = request(one, now, { holder: 'host: 1 {x}\n2 - ok', schedule: 'every 5 ms\n' });
      granted(await instants().begin(asked));
      granted(await instants().begin(request(two, now)));
      expect((await instants().history(one))[0]).toMatchObject({ holder: asked.holder, holderTag: asked.holderTag });
    });

    if (features.virtualTime) {
      it('ends with its life', async () => {
        const [key, now] = [freshKey('job'), await serverTime()];
        await run(key, now);
        await harness().advance(LIFE_MS + 1);
        expect(await instants().history(key)).toEqual([]);
      });
    }

    if (features.immortal) {
      it('leaves nothing behind that does not end by itself', async () => {
        const [key, now] = [freshKey('job'), await serverTime()];
        await instants().begin(request(key, now - 3, { purpose: 'look' }));
        await run(key, now - 2);
        const asked = request(key, now - 1);
        granted(await instants().begin(asked));
        await instants().begin(request(key, now));
        await finish(asked, 'ok', 60_000);
        expect(await harness().immortal?.()).toEqual([]);
      });
    }
  });
}
