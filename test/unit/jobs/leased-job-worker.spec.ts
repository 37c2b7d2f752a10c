import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { StaleFencingTokenError } from '../../../lib/errors/stale-fencing-token.error.js';
import { LeasedJobWorker } from '../../../lib/jobs/leased-job-worker.js';
import type { LeasedJobWorkerOptions } from '../../../lib/jobs/worker-options.js';
import { watch } from '../../support/lease-rig.js';
import { deferred } from '../../support/nest-app.js';
import { rejection, Replicas, type Replica } from './replicas.js';

const keyOf = (id: string): string => `job:${id}`;

describe('LeasedJobWorker', () => {
  let fleet: Replicas;
  let one: Replica;
  let two: Replica;
  let worker: LeasedJobWorker;
  let rival: LeasedJobWorker;

  const workerOf = ({ service }: Replica, options: Partial<LeasedJobWorkerOptions> = {}): LeasedJobWorker =>
    new LeasedJobWorker(service, { keyOf, ttl: 12, ...options });
  const ids = (of: LeasedJobWorker): string[] => of.active.map(({ jobId }) => jobId);

  beforeEach(() => {
    fleet = new Replicas();
    one = fleet.start('replica-1');
    two = fleet.start('replica-2');
    worker = workerOf(one);
    rival = workerOf(two);
  });

  describe('claims', () => {
    it('claims a job that is free, with token and signal, and keeps it alive', async () => {
      const claim = await worker.tryClaim('42');
      expect(claim).toMatchObject({ jobId: '42', fencingToken: claim?.lease.fencingToken });
      expect(claim?.lease.key).toBe('job:42');
      expect(worker.active).toEqual([claim]);
      await fleet.clock.advanceAsync(60_000);
      expect(claim?.signal.aborted).toBe(false);
      expect(await rival.tryClaim('42')).toBeUndefined();
    });

    it('claims no job twice, whoever asks', async () => {
      const claims = await Promise.all([worker.tryClaim('42'), worker.tryClaim('42'), rival.tryClaim('42')]);
      expect(claims.filter(Boolean)).toHaveLength(1);
      expect(await worker.tryClaim('42')).toBeUndefined();
    });

    it('ends when the job is completed, and the next token is higher', async () => {
      const claim = await worker.tryClaim('42');
      expect(await worker.complete('42')).toBe(true);
      expect(worker.active).toEqual([]);
      const next = await rival.tryClaim('42');
      expect(next?.fencingToken).toBeGreaterThan(claim!.fencingToken);
    });

    it('aborts the signal of a claim that is lost; it counts until it is ended', async () => {
      const claim = await worker.tryClaim('42');
      await fleet.shared.forceRelease('job:42');
      await fleet.clock.advanceAsync(6000);
      expect(claim?.signal.aborted).toBe(true);
      expect(ids(worker)).toEqual(['42']);
      expect(await worker.complete('42')).toBe(false);
      expect(ids(worker)).toEqual([]);
    });

    it('can be claimed by others when its worker has crashed', async () => {
      await worker.tryClaim('42');
      fleet.crash(one);
      await fleet.clock.advanceAsync(12_000);
      expect(await rival.tryClaim('42')).toBeDefined();
    });

    it('gives the slot back when the store cannot be asked', async () => {
      const single = workerOf(one, { concurrency: 1 });
      one.store.fail('acquire', new Error('ECONNRESET')).fail('acquireFirst', new Error('ECONNRESET'));
      expect(await rejection(single.tryClaim('1'))).toMatchObject({ code: 'LEASE_UNAVAILABLE', key: 'job:1' });
      expect(await rejection(single.claimNext(['1']))).toMatchObject({ code: 'LEASE_UNAVAILABLE' });
      expect(await single.tryClaim('1')).toBeDefined();
    });

    it('completes and abandons nothing that it has not claimed', async () => {
      await rival.tryClaim('42');
      expect(await worker.complete('42')).toBe(false);
      expect(await worker.abandon('42', { retryAfter: 5 })).toBe(false);
      expect(await two.service.inspect('job:42')).toMatchObject({ state: 'held' });
    });
  });

  describe('abandon', () => {
    it('leaves the job to whoever claims it next', async () => {
      await worker.tryClaim('42');
      expect(await worker.abandon('42')).toBe(true);
      expect(await rival.tryClaim('42')).toBeDefined();
    });

    it('keeps everybody from it until retryAfter is over', async () => {
      const claim = await worker.tryClaim('42');
      expect(await worker.abandon('42', { retryAfter: '90s' })).toBe(true);
      expect(await one.service.inspect('job:42')).toMatchObject({ state: 'cooldown', remainingMs: 90_000 });
      for (const each of [worker, rival]) {
        expect(await each.tryClaim('42')).toBeUndefined();
        expect(await each.claimNext(['42'])).toBeUndefined();
        expect(await each.run('42', () => 1)).toEqual({ kind: 'busy' });
      }
      await fleet.clock.advanceAsync(89_999);
      expect(await rival.tryClaim('42')).toBeUndefined();
      await fleet.clock.advanceAsync(1);
      expect((await rival.claimNext(['42']))?.fencingToken).toBeGreaterThan(claim!.fencingToken);
    });

    it('tells the store again where it had no answer', async () => {
      await worker.tryClaim('42');
      one.store.dropRequest('coolDown');
      const abandoned = worker.abandon('42', { retryAfter: 60 });
      await fleet.clock.advanceAsync(5000);
      expect(await abandoned).toBe(false);
      expect(await one.service.inspect('job:42')).toMatchObject({ state: 'cooldown' });
    });

    it.each([-1, '2d', 86_400])('refuses retryAfter: %s, and the claim stays', async (retryAfter) => {
      await worker.tryClaim('42');
      expect(await rejection(worker.abandon('42', { retryAfter }))).toMatchObject({ option: 'retryAfter' });
      expect(ids(worker)).toEqual(['42']);
    });

    it('says so where the store cannot do it', async () => {
      Object.assign(one.store, { jobs: undefined });
      await worker.tryClaim('42');
      expect(await rejection(worker.abandon('42', { retryAfter: 5 }))).toMatchObject({ option: 'retryAfter' });
      expect(await worker.abandon('42')).toBe(true);
    });
  });

  describe('run', () => {
    it('claims the job, runs the function under its lease, and completes it', async () => {
      const outcome = await worker.run('42', async (claim) => {
        expect(worker.active).toEqual([claim]);
        expect(one.service.current('job:42')).toBe(claim.lease);
        expect(await rival.run('42', () => 1)).toEqual({ kind: 'busy' });
        return claim.fencingToken;
      });
      expect(outcome).toEqual({ kind: 'done', result: expect.any(Number) });
      expect(worker.active).toEqual([]);
      expect(await two.service.inspect('job:42')).toBeUndefined();
    });

    it('takes the claim that this worker has already', async () => {
      const claim = await worker.claimNext(['1', '2']);
      const outcome = await worker.run(claim!.jobId, (same) => same === claim);
      expect(outcome).toEqual({ kind: 'done', result: true });
      expect(worker.active).toEqual([]);
    });

    it('runs a job once at a time, also when this worker is asked twice', async () => {
      const work = deferred();
      const running = worker.run('42', () => work.promise);
      await fleet.clock.settle();
      expect(await worker.run('42', () => 1)).toEqual({ kind: 'busy' });
      work.resolve();
      expect(await running).toMatchObject({ kind: 'done' });
    });

    it('throws what the function throws; the job is free again at once', async () => {
      const failed = new Error('disk full');
      expect(await rejection(worker.run('42', () => Promise.reject(failed)))).toBe(failed);
      expect(worker.active).toEqual([]);
      expect(await rival.tryClaim('42')).toBeDefined();
    });

    it('throws what the function throws; nobody may try before retryAfter', async () => {
      const slow = workerOf(one, { retryAfter: '1m' });
      await rejection(slow.run('42', () => Promise.reject(new Error('disk full'))));
      expect(await rival.tryClaim('42')).toBeUndefined();
      expect(await two.service.inspect('job:42')).toMatchObject({ state: 'cooldown', remainingMs: 60_000 });
    });

    it('is lost with its claim, when the function has stopped', async () => {
      const running = watch(
        worker.run(
          '42',
          ({ signal }) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error))),
        ),
      );
      await fleet.clock.settle();
      await fleet.shared.forceRelease('job:42');
      await fleet.clock.advanceAsync(6000);
      expect(await running.now()).toMatchObject({ kind: 'lost', error: { code: 'LEASE_LOST', reason: 'expired', key: 'job:42' } });
    });

    it('is lost when what it writes to has seen a newer claim', async () => {
      const stale = async (token: number): Promise<never> => {
        await Promise.resolve();
        throw new StaleFencingTokenError('orders', token, { current: token + 1 });
      };
      const outcome = await worker.run('42', ({ fencingToken }) => stale(fencingToken));
      expect(outcome).toMatchObject({ kind: 'lost', error: { reason: 'fenced', cause: { code: 'FENCING_TOKEN_STALE' } } });
      expect(await rejection(worker.run('43', () => stale(1)))).toMatchObject({ code: 'FENCING_TOKEN_STALE' });
    });

    it('lets the function end its claim itself', async () => {
      const outcome = await worker.run('42', async () => worker.abandon('42', { retryAfter: 5 }));
      expect(outcome).toEqual({ kind: 'done', result: true });
      expect(await one.service.inspect('job:42')).toMatchObject({ state: 'cooldown' });
    });

    it('ends at maxHold', async () => {
      const short = workerOf(one, { maxHold: 20 });
      const work = deferred();
      const running = watch(short.run('42', () => work.promise));
      await fleet.clock.advanceAsync(20_000);
      work.resolve();
      expect(await running.now()).toMatchObject({ kind: 'lost', error: { reason: 'max-hold' } });
    });
  });

  describe('claimNext', () => {
    it('claims the first that is free, in one call of the store', async () => {
      await rival.tryClaim('1');
      await rival.tryClaim('2');
      expect((await worker.claimNext(['1', '2', '3', '4']))?.jobId).toBe('3');
      expect(one.store.calls('acquireFirst')).toHaveLength(1);
      expect(one.store.calls('acquire')).toHaveLength(0);
      expect(await two.service.inspect('job:4')).toBeUndefined();
    });

    it('gives different jobs to replicas that ask at the same moment', async () => {
      const jobs = ['1', '2', '3', '4', '5'];
      const claims = await Promise.all([1, 2, 3, 4, 5].map((i) => workerOf(fleet.start(`replica-${i}`)).claimNext(jobs)));
      expect(claims.map((claim) => claim?.jobId).sort()).toEqual(jobs);
    });

    it('claims no job that it has, nor one key twice, and nothing of nothing', async () => {
      await worker.tryClaim('1');
      expect(await worker.claimNext(new Set(['1']))).toBeUndefined();
      expect(await worker.claimNext([])).toBeUndefined();
      expect(one.store.calls('acquireFirst')).toHaveLength(0);
      const grouped = workerOf(one, { keyOf: (id) => `group:${id[0] ?? ''}` });
      await grouped.claimNext(['a1', 'a2', 'b1']);
      expect(one.store.calls('acquireFirst')[0]?.candidates.map(({ key }) => key)).toEqual(['group:a', 'group:b']);
      expect(await grouped.claimNext(['a1', 'a2'])).toBeUndefined();
    });

    it('asks for one after another where the store cannot choose', async () => {
      Object.assign(one.store, { jobs: undefined });
      await rival.tryClaim('1');
      expect((await worker.claimNext(['1', '2']))?.jobId).toBe('2');
    });

    it('takes back what a call without an answer has claimed', async () => {
      one.store.dropReply('acquireFirst');
      const asked = watch(worker.claimNext(['1', '2']));
      await fleet.clock.advanceAsync(3000);
      expect(await asked.now()).toMatchObject({ code: 'LEASE_UNAVAILABLE' });
      await fleet.clock.advanceAsync(2000);
      expect(await two.service.inspect('job:1')).toBeUndefined();
    });

    it('takes no job past those who wait for its lease in line', async () => {
      const held = await worker.tryClaim('1');
      const waiting = two.service.acquire('job:1', { wait: 60 });
      await fleet.clock.settle();
      await worker.complete('1');
      expect(await workerOf(fleet.start('replica-3')).claimNext(['1'])).toBeUndefined();
      await fleet.clock.advanceAsync(1000);
      expect((await waiting).fencingToken).toBeGreaterThan(held!.fencingToken);
    });

    it('refuses a job without a key', async () => {
      expect(await rejection(workerOf(one, { keyOf: () => '' }).claimNext(['1']))).toMatchObject({ code: 'LEASE_KEY_INVALID' });
    });
  });

  describe('concurrency', () => {
    it('claims no more than it allows, and asks nobody then', async () => {
      const narrow = workerOf(one, { concurrency: 2 });
      const claims = await Promise.all(['1', '2', '3'].map((id) => narrow.tryClaim(id)));
      expect(claims.filter(Boolean)).toHaveLength(2);
      expect(await narrow.claimNext(['4', '5'])).toBeUndefined();
      expect(one.store.calls('acquire')).toHaveLength(2);
      await narrow.complete('1');
      expect((await narrow.claimNext(['4', '5']))?.jobId).toBe('4');
    });

    it('lets runs wait for their turn, in order', async () => {
      const narrow = workerOf(one, { concurrency: 2 });
      const works = ['1', '2', '3', '4'].map((id) => ({ id, work: deferred() }));
      const begun: string[] = [];
      const runs = works.map(({ id, work }) => narrow.run(id, () => (begun.push(id), work.promise)));
      await fleet.clock.settle();
      expect(begun).toEqual(['1', '2']);
      works[1]!.work.resolve();
      await fleet.clock.settle();
      expect(begun).toEqual(['1', '2', '3']);
      for (const { work } of works) work.resolve();
      expect((await Promise.all(runs)).map(({ kind }) => kind)).toEqual(['done', 'done', 'done', 'done']);
      expect(begun).toEqual(['1', '2', '3', '4']);
    });

    it.each([0, -1, 1.5, NaN, '4'])('refuses concurrency: %s', (concurrency) => {
      expect(() => workerOf(one, { concurrency: concurrency as number })).toThrow(/"concurrency"/);
    });

    it('refuses other options that are wrong', () => {
      expect(() => workerOf(one, { keyOf: undefined as never })).toThrow(/"keyOf"/);
      expect(() => workerOf(one, { ttl: 0 })).toThrow(/"ttl"/);
      expect(() => workerOf(one, { retryAfter: -1 })).toThrow(/"retryAfter"/);
    });
  });

  describe('drain', () => {
    it('claims nothing any more, and resolves when all claims have ended', async () => {
      const work = deferred();
      const running = worker.run('1', () => work.promise);
      await worker.tryClaim('2');
      const drained = watch(worker.drain());
      for (const call of [worker.tryClaim('3'), worker.claimNext(['3']), worker.run('3', () => 1)]) {
        expect(await rejection(call)).toMatchObject({ code: 'LEASE_SHUTDOWN' });
      }
      expect(await drained.now()).toBe('pending');
      work.resolve();
      expect(await running).toMatchObject({ kind: 'done' });
      expect(await drained.now()).toBe('pending');
      await worker.complete('2');
      expect(await drained.now()).toBe('resolved');
      await worker.drain();
    });

    it('still runs what it has claimed', async () => {
      await worker.tryClaim('1');
      void worker.drain();
      expect(await worker.run('1', () => 'done')).toEqual({ kind: 'done', result: 'done' });
    });

    it('sends away runs that wait for their turn, and gives back a claim that comes too late', async () => {
      const narrow = workerOf(one, { concurrency: 1 });
      one.store.delayReply('acquire', 100);
      const late = rejection(narrow.tryClaim('1'));
      const waiting = rejection(narrow.run('2', () => 1));
      const drained = watch(narrow.drain());
      expect(await waiting).toMatchObject({ code: 'LEASE_SHUTDOWN' });
      await fleet.clock.advanceAsync(100);
      expect(await late).toMatchObject({ code: 'LEASE_SHUTDOWN' });
      expect(await drained.now()).toBe('resolved');
      expect(await two.service.inspect('job:1')).toBeUndefined();
    });

    it('has nothing to wait for without claims', async () => {
      await worker.drain();
    });
  });

  it('claims nothing from the moment the application begins to shut down, and its claims are waited for', async () => {
    await worker.tryClaim('1');
    one.registry.stop();
    expect(await rejection(worker.claimNext(['2']))).toMatchObject({ code: 'LEASE_SHUTDOWN' });
    const drained = watch(one.registry.drain());
    await fleet.clock.advanceAsync(1000);
    expect(await drained.now()).toBe('pending');
    await worker.complete('1');
    await fleet.clock.advanceAsync(100);
    expect(await drained.now()).toBe('resolved');
  });

  it('is told by the signal when the grace of the shutdown is over', async () => {
    const stop = jest.fn();
    const running = watch(
      worker.run('1', async ({ signal }) => {
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        stop();
      }),
    );
    await fleet.clock.settle();
    const drained = one.registry.drain();
    await fleet.clock.advanceAsync(11_000);
    await drained;
    expect(stop).toHaveBeenCalledTimes(1);
    expect(await running.now()).toMatchObject({ kind: 'lost', error: { reason: 'shutdown' } });
  });
});
