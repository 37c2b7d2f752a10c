import { describe, expect, it } from '@jest/globals';
import { Cluster, Redis } from 'ioredis';
import { Redis as Redis5 } from 'ioredis5';
import { planConnection } from '../../../../lib/stores/redis/connection-option.js';
import { RedisLeaseStore } from '../../../../lib/stores/redis/redis-lease-store.js';
import type { RedisLeaseStoreOptions } from '../../../../lib/stores/redis/redis-store-options.js';

const refusal = (text: string | RegExp): Error =>
  expect.objectContaining({
    code: 'LEASE_OPTIONS_INVALID',
    option: 'connection',
    message: typeof text === 'string' ? expect.stringContaining(text) : expect.stringMatching(text),
  }) as unknown as Error;

describe('the option "connection"', () => {
  it.each([
    [undefined, 'is undefined'],
    [null, 'is null'],
    ['', 'an empty text'],
    [{}, 'a host without a name'],
    [{ host: '' }, 'a host without a name'],
    [{ host: '  ' }, 'a host without a name'],
    [{ host: undefined, port: 6379 }, 'a host without a name'],
    [{ port: 6379 }, 'a host without a name'],
    [{ host: 'h', port: NaN }, 'has the port NaN'],
    [{ host: 'h', port: 0 }, 'has the port 0'],
    [{ path: '' }, 'a host without a name'],
    [{ sentinels: [], name: 'm' }, 'no list of addresses'],
    [{ sentinels: [{ host: '' }], name: 'm' }, 'a host without a name'],
    [{ sentinels: [{ host: 's' }] }, 'no name'],
    [{ cluster: {} }, 'no list of addresses'],
    [{ cluster: undefined }, 'no list of addresses'],
    [{ cluster: { nodes: [] } }, 'no list of addresses'],
    [{ cluster: { nodes: [{ host: undefined }] } }, 'a host without a name'],
    [{ cluster: { nodes: [null] } }, 'has null in "cluster.nodes"'],
    [{ nodes: [{ host: 'h' }] }, '{ cluster: { nodes: [...] } }'],
    [7, 'is a number'],
    [true, 'is a boolean'],
    [() => 'redis://h', 'is a function'],
    [Promise.resolve('redis://h'), 'is a promise'],
    ['localhost', 'not a readable URL'],
    ['localhost:6379', 'redis://'],
    ['http://localhost', 'redis://'],
    ['redis://', /readable URL|host without a name/],
    ['redis://:6379', 'not a readable URL'],
    ['redis://undefined:6379', 'a host without a name'],
    ['redis://host/abc', 'not a database number'],
  ])('is refused when it is %p', (connection, text) => {
    expect(() => new RedisLeaseStore({ connection } as unknown as RedisLeaseStoreOptions)).toThrow(refusal(text));
  });

  it('as a list names the shape of a Cluster (redlock and others take lists)', () => {
    const list = [{ host: 'a', port: 1 }];
    expect(() => planConnection(list)).toThrow(refusal('{ cluster: { nodes: [{ host, port }, ...] } }'));
    expect(() => planConnection(['redis://a', 'redis://b'])).toThrow(refusal('is a list'));
  });

  it('as a client of node-redis names the right shape', () => {
    const nodeRedis = { isOpen: true, isReady: true, sendCommand: () => undefined, evalSha: () => undefined, duplicate: () => undefined };
    expect(() => planConnection(nodeRedis)).toThrow(refusal('node-redis'));
  });

  it('never shows a password', () => {
    try {
      planConnection('redis://user:hunter2@undefined:6379');
    } catch (error) {
      expect((error as Error).message).not.toContain('hunter2');
      return;
    }
    throw new Error('It was accepted.');
  });

  it.each([
    ['redis://127.0.0.1:6379', 'url'],
    ['rediss://user:p%40ss@host:6380/3', 'url'],
    ['redis://[::1]:6379', 'url'],
    ['/run/redis.sock', 'url'],
    [{ host: 'h' }, 'options'],
    [{ host: 'h', port: '6379' }, 'options'],
    [{ path: '/run/redis.sock' }, 'options'],
    [{ sentinels: [{ host: 's', port: 1 }], name: 'm' }, 'options'],
    [{ cluster: { nodes: [{ host: 'h', port: 1 }, 'redis://h:2'] } }, 'cluster'],
  ])('may be %j', (connection, kind) => {
    expect(planConnection(connection).kind).toBe(kind);
  });

  it('may be a ready client of ioredis 5 or 6, single or Cluster', () => {
    const clients = [
      new Redis({ lazyConnect: true }),
      new Redis5({ lazyConnect: true }),
      new Cluster([{ host: 'h' }], { lazyConnect: true }),
    ];
    for (const client of clients) {
      expect(planConnection(client).kind).toBe('client');
      client.disconnect();
    }
  });
});

describe('other options', () => {
  it.each([0, -1, NaN, 1.5, Infinity])('refuse a fence retention of %p', (fenceRetentionMs) => {
    expect(() => new RedisLeaseStore({ fenceRetentionMs })).toThrow(expect.objectContaining({ option: 'fenceRetention' }));
  });
});
