import { describe, expect, it } from '@jest/globals';
import { Readable } from 'node:stream';
import { loseLease } from '../../../lib/lease/lease-control.js';
import type { Lease } from '../../../lib/lease/lease.js';
import type { LeasedCallOptions } from '../../../lib/metadata/leased-call.js';
import { leasedCall, serviceRig } from '../../support/service-rig.js';
import { waitFor } from '../../support/wait-for.js';

type Steps = AsyncGenerator<unknown, unknown, unknown>;
const iterate = (rig: ReturnType<typeof serviceRig>, body: (lease: Lease) => unknown, options: LeasedCallOptions = {}): Steps =>
  rig.executor.run(leasedCall('k', body, { ...options, returns: 'iterable' })) as Steps;
const free = async (rig: ReturnType<typeof serviceRig>): Promise<boolean> => (await rig.service.inspect('k')) === undefined;

async function all(steps: AsyncIterable<unknown>): Promise<unknown[]> {
  const values: unknown[] = [];
  for await (const value of steps) values.push(value);
  return values;
}

describe('a leased call that gives an async iterable', () => {
  it('acquires on the first next() and holds until the end', async () => {
    const rig = serviceRig();
    const held: boolean[] = [];
    const steps = iterate(rig, async function* () {
      for (const i of [1, 2]) {
        held.push(!(await free(rig)) && rig.service.current('k') !== undefined);
        yield i;
      }
    });
    expect(rig.store.calls('acquire')).toHaveLength(0);
    expect(await all(steps)).toEqual([1, 2]);
    expect(held).toEqual([true, true]);
    expect(await free(rig)).toBe(true);
  });

  it('is a generator like that of the body: values in, a result, errors in', async () => {
    const rig = serviceRig();
    const steps = iterate(rig, async function* (): Steps {
      try {
        return [yield 'first', yield 'second'];
      } catch (error) {
        yield `caught ${String(error)}`;
        return 'end';
      }
    });
    expect(await steps.next()).toEqual({ done: false, value: 'first' });
    expect(await steps.next('in')).toEqual({ done: false, value: 'second' });
    expect(await steps.throw('stop')).toEqual({ done: false, value: 'caught stop' });
    expect(await steps.next()).toEqual({ done: true, value: 'end' });
    expect(await steps.next()).toEqual({ done: true, value: undefined });
    expect(await free(rig)).toBe(true);
  });

  it('is freed, and the body closed, when the consumer breaks off', async () => {
    const rig = serviceRig();
    let closed = false;
    const steps = iterate(rig, async function* () {
      try {
        for (;;) yield 1;
      } finally {
        await Promise.resolve();
        closed = !(await free(rig));
      }
    });
    for await (const _ of steps) break;
    expect(closed).toBe(true);
    expect(await free(rig)).toBe(true);
  });

  it('closed before the first step it never acquires', async () => {
    const rig = serviceRig();
    const steps = iterate(rig, async function* () {
      yield 1;
    });
    expect(await steps.return('x')).toEqual({ done: true, value: 'x' });
    expect(await steps.next()).toEqual({ done: true, value: undefined });
    expect(rig.store.calls('acquire')).toHaveLength(0);
  });

  it('passes on the very error of the body and frees the key', async () => {
    const rig = serviceRig();
    const steps = iterate(rig, async function* () {
      yield 1;
      throw 'own';
    });
    await expect(all(steps)).rejects.toBe('own');
    expect(await free(rig)).toBe(true);
  });

  it('lost between two steps: the body is told by throw(), the next step throws the loss, once', async () => {
    const rig = serviceRig();
    const told: unknown[] = [];
    const steps = iterate(rig, async function* (lease) {
      try {
        yield lease;
      } catch (error) {
        told.push(error);
        throw error;
      }
    });
    const { value } = await steps.next();
    loseLease(value as Lease, 'taken');
    await waitFor(() => told.length);
    expect(told).toMatchObject([{ code: 'LEASE_LOST' }]);
    await expect(steps.next()).rejects.toMatchObject({ code: 'LEASE_LOST', reason: 'taken' });
    expect(await steps.next()).toEqual({ done: true, value: undefined });
  });

  it('lost during a step: that step throws the loss, once, and the body is closed', async () => {
    const rig = serviceRig();
    let closed = false;
    const steps = iterate(rig, async function* (lease) {
      try {
        await Promise.resolve();
        loseLease(lease, 'taken');
        yield 1;
      } finally {
        closed = true;
      }
    });
    await expect(steps.next()).rejects.toMatchObject({ code: 'LEASE_LOST', reason: 'taken' });
    expect(closed).toBe(true);
    expect(await steps.next()).toEqual({ done: true, value: undefined });
  });

  it('busy rejects the first step, or skips it', async () => {
    const rig = serviceRig();
    await rig.service.acquire('k');
    const body = async function* (): AsyncGenerator<unknown, undefined, unknown> {
      yield 1;
    };
    await expect(iterate(rig, body).next()).rejects.toMatchObject({ code: 'LEASE_BUSY' });
    expect(await all(iterate(rig, body, { onBusy: 'skip' }))).toEqual([]);
    expect(await all(iterate(rig, body, { onBusy: 'skip', skipValue: ['a'] }))).toEqual(['a']);
  });

  it('refuses a body that gives nothing to iterate', async () => {
    const rig = serviceRig();
    await expect(iterate(rig, () => 42).next()).rejects.toThrow(TypeError);
    expect(await free(rig)).toBe(true);
  });
});

describe('a promise that brings something to iterate', () => {
  it('keeps the lease until that has ended', async () => {
    const rig = serviceRig();
    const body = async (): Promise<Steps> =>
      Promise.resolve(
        (async function* () {
          yield await free(rig);
        })(),
      );
    const steps = (await rig.executor.run(leasedCall('k', body))) as Steps;
    expect(await free(rig)).toBe(false);
    expect(await all(steps)).toEqual([false]);
    expect(await free(rig)).toBe(true);
  });

  it('loses the lease when nobody reads within one ttl', async () => {
    const rig = serviceRig({ ttl: 5 });
    const body = async (): Promise<Steps> =>
      Promise.resolve(
        (async function* () {
          yield 1;
        })(),
      );
    const steps = (await rig.executor.run(leasedCall('k', body))) as Steps;
    await rig.clock.advanceAsync(5100);
    expect(await free(rig)).toBe(true);
    await expect(steps.next()).rejects.toMatchObject({ code: 'LEASE_LOST' });
  });

  it('a Node stream stays the stream it is, and is held until it has ended', async () => {
    const rig = serviceRig();
    const stream = Readable.from(['a', 'b']);
    expect(await rig.executor.run(leasedCall('k', async () => Promise.resolve(stream)))).toBe(stream);
    expect(await free(rig)).toBe(false);
    expect(await all(stream)).toEqual(['a', 'b']);
    await waitFor(() => free(rig));
  });

  it('a Node stream is ended by the loss of the lease, so that nobody takes the rest for the whole', async () => {
    const rig = serviceRig();
    const stream = new Readable({ read: () => undefined });
    stream.push('a');
    await rig.executor.run(leasedCall('k', async (lease) => (queueMicrotask(() => loseLease(lease, 'taken')), Promise.resolve(stream))));
    await expect(all(stream)).rejects.toMatchObject({ code: 'LEASE_LOST', reason: 'taken' });
    await waitFor(() => free(rig));
  });

  it.each([
    ['Node', () => new Readable({ read: () => undefined })],
    ['web', () => new ReadableStream()],
  ])('a %s stream that nobody begins to read within one ttl gives the lease back', async (_, make) => {
    const rig = serviceRig();
    await rig.executor.run(leasedCall('k', async () => Promise.resolve(make()), { ttl: '1s' }));
    await rig.clock.advanceAsync(990);
    expect(await free(rig)).toBe(false);
    await rig.clock.advanceAsync(20);
    await waitFor(() => free(rig));
  });

  it('a Node stream that is read slower than one ttl stays held', async () => {
    const rig = serviceRig();
    const stream = new Readable({ read: () => undefined });
    await rig.executor.run(leasedCall('k', async () => Promise.resolve(stream), { ttl: '1s' }));
    const reading = all(stream);
    await rig.clock.advanceAsync(3000);
    expect(await free(rig)).toBe(false);
    stream.push(null);
    expect(await reading).toEqual([]);
    await waitFor(() => free(rig));
  });

  it('a web stream likewise, also when it is cancelled', async () => {
    const rig = serviceRig();
    const stream = new ReadableStream();
    expect(await rig.executor.run(leasedCall('k', async () => Promise.resolve(stream)))).toBe(stream);
    expect(await free(rig)).toBe(false);
    await stream.cancel();
    await waitFor(() => free(rig));
  });
});
