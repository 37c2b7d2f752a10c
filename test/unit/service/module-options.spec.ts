import { describe, expect, it } from '@jest/globals';
import { hostname } from 'node:os';
import { resolveModuleOptions } from '../../../lib/lease-module-options-check.js';
import { MemoryLeaseStore } from '../../../lib/stores/memory/memory-lease-store.js';

const resolve = (options: object): ReturnType<typeof resolveModuleOptions> => resolveModuleOptions(options);

function failure(options: unknown): Record<string, unknown> {
  try {
    resolve(options as object);
  } catch (error) {
    const { code, option, message } = error as Record<string, unknown>;
    return { code, option, message };
  }
  throw new Error('was accepted');
}

describe('the options of LeaseModule', () => {
  it('have the defaults that are documented', () => {
    expect(resolve({})).toEqual({
      name: 'default',
      connection: 'redis://127.0.0.1:6379',
      store: undefined,
      namespace: 'lease',
      holder: `${hostname()}:${String(process.pid)}`,
      defaults: { ttlMs: 30_000, waitMs: 0, maxHoldMs: undefined, commandTimeoutMs: 5000 },
      connectOnStart: false,
      shutdownGraceMs: 10_000,
      fenceRetentionMs: 86_400_000,
      maxQueue: undefined,
      durability: undefined,
      amnesiaGuardMs: undefined,
      warnings: [],
    });
  });

  it('are read in seconds, or in the unit of a text; undefined is the default', () => {
    const options = {
      ttl: 60,
      wait: '500ms',
      maxHold: '2h',
      commandTimeout: '2s',
      shutdownGrace: 5,
      fenceRetention: '2d',
      holder: undefined,
    };
    expect(resolve(options)).toMatchObject({
      defaults: { ttlMs: 60_000, waitMs: 500, maxHoldMs: 7_200_000, commandTimeoutMs: 2000 },
      shutdownGraceMs: 5000,
      fenceRetentionMs: 172_800_000,
    });
  });

  it.each([
    ['ttl', 0],
    ['ttl', -1],
    ['ttl', NaN],
    ['ttl', Infinity],
    ['ttl', '60'],
    ['ttl', null],
    ['ttl', {}],
    ['ttl', 1e21],
    ['ttl', 2 ** 53],
    ['ttl', '50ms'],
    ['ttl', '2d'],
    ['ttl', 30_000],
    ['wait', -1],
    ['wait', '2d'],
    ['maxHold', 0],
    ['maxHold', '8d'],
    ['commandTimeout', 5],
    ['commandTimeout', 5000],
    ['commandTimeout', '5'],
    ['commandTimeout', '0s'],
    ['shutdownGrace', 0],
    ['shutdownGrace', 10_000],
    ['fenceRetention', null],
    ['namespace', ''],
    ['namespace', 'a{b}'],
    ['namespace', 7],
    ['holder', ''],
    ['holder', '  '],
    ['holder', null],
    ['maxQueue', 0],
    ['maxQueue', 1.5],
    ['maxQueue', '3'],
    ['connectOnStart', 'yes'],
    ['connection', undefined],
    ['connection', null],
    ['connection', ''],
    ['connection', '  '],
    ['store', MemoryLeaseStore],
    ['store', null],
    ['store', {}],
    ['durability', 1],
    ['durability', null],
    ['amnesiaGuard', 0],
    ['amnesiaGuard', '2d'],
    ['amnesiaGuard', null],
    ['amnesiaGuard', 60_000],
    ['amnesiaGuard', '29s'],
  ])('refuse %s: %p, naming the option (node-redlock#120, connect-redis#191, RedLock.net#90)', (option, value) => {
    expect(failure({ [option]: value })).toMatchObject({
      code: 'LEASE_OPTIONS_INVALID',
      option,
      message: expect.stringContaining(`"${option}"`),
    });
  });

  it('of durability and of the guard against amnesia', () => {
    const { durability, amnesiaGuardMs } = resolve({ durability: { replicas: 2 }, amnesiaGuard: '2m' });
    expect([durability, amnesiaGuardMs]).toEqual([{ replicas: 2, timeoutMs: 1000 }, 120_000]);
    expect(resolve({ durability: { replicas: 1, timeout: '250ms' } }).durability).toEqual({ replicas: 1, timeoutMs: 250 });
  });

  it.each([
    ['durability.replicas', {}],
    ['durability.replicas', { replicas: 0 }],
    ['durability.replicas', { replicas: 1.5 }],
    ['durability.replicas', { replicas: '1' }],
    ['durability.timeout', { replicas: 1, timeout: 0 }],
    ['durability.timeout', { replicas: 1, timeout: 1000 }],
    ['durability.quorum', { replicas: 1, quorum: 2 }],
  ])('refuse %s of %p', (option, durability) => {
    expect(failure({ durability })).toMatchObject({ option, message: expect.stringContaining(`"${option}"`) });
  });

  it('refuse what would change nothing beside a store, and name where it belongs', () => {
    const store = new MemoryLeaseStore();
    for (const [option, value] of Object.entries({ durability: { replicas: 1 }, amnesiaGuard: 60 })) {
      expect(failure({ store, [option]: value })).toMatchObject({ option, message: expect.stringContaining('new RedisLeaseStore(') });
    }
  });

  it('say both readings of a number that may be milliseconds, and how to write each', () => {
    expect(failure({ ttl: 30_000 }).message).toMatch(/'30000s'.*'30000ms'/);
  });

  it('that are unknown are refused with the nearest name', () => {
    expect(failure({ tll: 5 })).toMatchObject({ option: 'tll', message: expect.stringContaining('Did you mean "ttl"?') });
    expect(failure({ shutDownGrace: 5 }).message).toContain('"shutdownGrace"');
    expect(failure({ renewalInterval: 5 }).message).toContain('Known are connection, store');
  });

  it.each([[undefined], [null], ['redis://x'], [[]]])('must be an object, not %p', (given) => {
    expect(failure(given)).toMatchObject({ option: 'options' });
  });

  it('refuse a store together with a connection, also one that is undefined', () => {
    const store = new MemoryLeaseStore();
    for (const connection of ['redis://x', undefined]) expect(failure({ store, connection })).toMatchObject({ option: 'store' });
    expect(resolve({ store })).toMatchObject({ store, connection: undefined });
  });

  it('refuse a name in the result of a factory that differs from the one beside it', () => {
    expect(failure({ name: 'billing' })).toMatchObject({
      option: 'name',
      message: expect.stringContaining("forRootAsync({ name: 'billing'"),
    });
    expect(resolveModuleOptions({ name: 'billing' }, 'billing').name).toBe('billing');
  });

  it('warn of a ttl below one second', () => {
    expect(resolve({ ttl: '900ms' }).warnings).toEqual([expect.stringContaining('900ms')]);
  });
});
