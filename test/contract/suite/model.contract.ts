import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ask, freshKey, LONG, PATIENCE_MS, type Features, type StoreHarness } from './harness.js';

/** The lease as it should be: who holds it, until when, and the highest token ever seen. */
interface Expected {
  holder: number | undefined;
  endsAt: number;
  token: number;
}

interface Scene {
  readonly harness: StoreHarness;
  readonly prefix: string;
  readonly keys: Expected[];
  now: number;
}

type Action = (scene: Scene) => Promise<void>;

const key = fc.nat({ max: 2 });
const holder = fc.nat({ max: 2 });
const nameOf = (scene: Scene, k: number): string => `${scene.prefix}-${String(k)}`;
const idOf = (scene: Scene, k: number, h: number): string => `${nameOf(scene, k)}-holder-${String(h)}`;

/** The model of one key; a lease that is over is nobody's. */
function expected(scene: Scene, k: number): Expected {
  const state = (scene.keys[k] ??= { holder: undefined, endsAt: 0, token: 0 });
  if (state.endsAt <= scene.now) state.holder = undefined;
  return state;
}

const acquire =
  (k: number, h: number, ttlMs: number): Action =>
  async (scene) => {
    const state = expected(scene, k);
    const side = h % 2 ? scene.harness.store : scene.harness.rival;
    const result = await side.acquire(ask(nameOf(scene, k), { holderId: idOf(scene, k, h), holderTag: `tag-${String(h)}`, ttlMs }));
    if (state.holder === undefined) {
      expect(result.kind).toBe('granted');
      expect(result.fencingToken).toBeGreaterThan(state.token);
      Object.assign(state, { holder: h, endsAt: scene.now + ttlMs, token: result.fencingToken });
      return;
    }
    expect(result.kind).toBe(state.holder === h ? 'granted' : 'busy');
    expect(result.fencingToken).toBe(state.token);
    if (state.holder === h) state.endsAt = Math.max(state.endsAt, scene.now + ttlMs);
    if (result.kind === 'busy') expect(result.holderTag).toBe(`tag-${String(state.holder)}`);
  };

const renew =
  (k: number, h: number, ttlMs: number): Action =>
  async (scene) => {
    const state = expected(scene, k);
    const request = { key: nameOf(scene, k), holderId: idOf(scene, k, h), fencingToken: state.token, ttlMs };
    const [result] = await scene.harness.store.renew([request]);
    expect(result?.kind).toBe(state.holder === undefined ? 'gone' : state.holder === h ? 'held' : 'taken');
    if (state.holder === h) state.endsAt = Math.max(state.endsAt, scene.now + ttlMs);
  };

const release =
  (k: number, h: number): Action =>
  async (scene) => {
    const state = expected(scene, k);
    const { kind } = await scene.harness.store.release({ key: nameOf(scene, k), holderId: idOf(scene, k, h), fencingToken: state.token });
    expect(kind).toBe(state.holder === h ? 'released' : 'not-held');
    if (state.holder === h) state.holder = undefined;
  };

const leave =
  (k: number, h: number): Action =>
  async (scene) => {
    const state = expected(scene, k);
    await scene.harness.rival.leave({ key: nameOf(scene, k), holderId: idOf(scene, k, h), holderTag: 'tag' });
    if (state.holder === h) state.holder = undefined;
  };

const force =
  (k: number): Action =>
  async (scene) => {
    const state = expected(scene, k);
    const record = await scene.harness.rival.forceRelease(nameOf(scene, k));
    expect(record?.fencingToken).toBe(state.holder === undefined ? undefined : state.token);
    state.holder = undefined;
  };

/** The clock must have passed the last token before its memory is lost with the lease: only then must tokens go on increasing. */
const lose =
  (k: number, what: 'key' | 'fence' | 'both'): Action =>
  async (scene) => {
    const state = expected(scene, k);
    if (what !== 'fence') await scene.harness.loseKey(nameOf(scene, k));
    if (what !== 'key') await scene.harness.loseFence(nameOf(scene, k));
    await pass(5)(scene);
    if (what !== 'fence') state.holder = undefined;
  };

const pass =
  (ms: number): Action =>
  async (scene) => {
    await scene.harness.advance(ms);
    scene.now += ms;
  };

const look: Action = async (scene) => {
  for (const k of scene.keys.keys()) {
    const state = expected(scene, k);
    const record = await scene.harness.store.inspect(nameOf(scene, k));
    expect(record?.holderTag).toBe(state.holder === undefined ? undefined : `tag-${String(state.holder)}`);
    if (record) expect(record.fencingToken).toBe(state.token);
  }
};

function actions(virtualTime: boolean): fc.Arbitrary<Action> {
  // On a real clock nothing may end within a run, or the model would have to guess.
  const ttl = virtualTime ? fc.integer({ min: 1, max: 100 }) : fc.constant(LONG);
  return fc.oneof(
    { weight: 6, arbitrary: fc.tuple(key, holder, ttl).map((args) => acquire(...args)) },
    { weight: 3, arbitrary: fc.tuple(key, holder, ttl).map((args) => renew(...args)) },
    { weight: 4, arbitrary: fc.tuple(key, holder).map((args) => release(...args)) },
    fc.tuple(key, holder).map((args) => leave(...args)),
    key.map(force),
    fc.tuple(key, fc.constantFrom('key' as const, 'fence' as const, 'both' as const)).map((args) => lose(...args)),
    ...(virtualTime ? [{ weight: 4, arbitrary: fc.integer({ min: 1, max: 60 }).map(pass) }] : []),
  );
}

export function modelContract(harness: () => StoreHarness, features: Features): void {
  describe('any sequence of calls', () => {
    it(
      'keeps to the model: one holder, tokens that only increase, nothing lost or gained',
      async () => {
        const virtualTime = features.virtualTime === true;
        const sequences = fc.array(actions(virtualTime), { minLength: 1, maxLength: 60 });
        await fc.assert(
          fc.asyncProperty(sequences, async (sequence) => {
            const scene: Scene = { harness: harness(), prefix: freshKey('model'), keys: [], now: 0 };
            for (const action of sequence) {
              await action(scene);
              await look(scene);
            }
          }),
          { numRuns: features.runs ?? 50 },
        );
      },
      PATIENCE_MS,
    );
  });
}
