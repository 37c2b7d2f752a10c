import { describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { Redis as Redis5 } from 'ioredis5';
import { waitFor } from '../../support/wait-for.js';
import { ask, Rig, take } from './rig.js';

describe('the connection of a Redis store', () => {
  const rig = new Rig();

  it('is not opened before the first call, and only once', async () => {
    const store = rig.store();
    await rig.client.ping();
    expect(await rig.connections()).toEqual([]);
    await Promise.all([take(store), take(store), store.inspect('x')]);
    expect(await rig.connections()).toHaveLength(1);
    await store.close();
    await waitFor(async () => (await rig.connections()).length === 0);
  });

  it.each([
    ['a URL', () => rig.server.url],
    ['options', () => ({ host: rig.server.host, port: rig.server.port })],
  ])('may be given as %s', async (_, connection) => {
    const store = rig.store({ connection: connection() });
    const held = await take(store);
    expect(await store.release(held)).toEqual({ kind: 'released' });
  });

  it.each([
    ['6', (url: string) => new Redis(url)],
    ['5', (url: string) => new Redis5(url)],
  ])('is a duplicate of a ready client of ioredis %s, which stays open as it was (bull#913)', async (_, connect) => {
    const client = rig.track(connect(rig.server.url));
    await client.ping();
    const before = client.eventNames().map((name) => [name, client.listenerCount(name)]);
    const others = (await rig.connections()).length;
    const store = rig.store({ connection: client });
    const held = await take(store);
    await store.renew([held]);
    expect(await rig.connections()).toHaveLength(others + 1);
    await store.close();
    await waitFor(async () => (await rig.connections()).length === others);
    expect(await client.ping()).toBe('PONG');
    expect(client.eventNames().map((name) => [name, client.listenerCount(name)])).toEqual(before);
    client.disconnect();
  });

  it('works beside a blocking command of the ready client, and though that client is closed', async () => {
    const client = rig.track(new Redis(rig.server.url));
    const blocked = client.blpop('nothing-comes', 0).catch(() => undefined);
    const store = rig.store({ connection: client });
    await take(store);
    client.disconnect();
    await blocked;
    await take(store);
    await take(rig.store({ connection: client }));
  });

  it('respects keyPrefix for all keys, and shows the key of the user (ioredis#1933)', async () => {
    const client = rig.track(new Redis(rig.server.url, { keyPrefix: 'app:' }));
    const store = rig.store({ connection: client });
    const bare = rig.store({ namespace: 'app:lease' });
    const held = await take(store, 'prefixed');
    expect(await rig.client.keys('app:*')).toEqual(expect.arrayContaining(['app:lease:{prefixed}', 'app:lease:{prefixed}:fence']));
    expect(await rig.client.keys('lease:{prefixed}*')).toEqual([]);
    expect(await store.inspect('prefixed')).toMatchObject({ key: 'prefixed', fencingToken: held.fencingToken });
    expect(await bare.acquire(ask('prefixed'))).toMatchObject({ kind: 'busy', holderTag: held.holderTag });
    expect((await store.renew([held]))[0]?.kind).toBe('held');
    expect(await store.release(held)).toEqual({ kind: 'released' });
    client.disconnect();
  });

  it('respects the database, also one that was selected later', async () => {
    const selected = rig.track(new Redis(rig.server.url));
    await selected.select(5);
    const stores = [
      rig.store({ connection: { host: rig.server.host, port: rig.server.port, db: 5 } }),
      rig.store({ connection: `${rig.server.url}/5` }),
      rig.store({ connection: selected }),
    ];
    for (const [i, store] of stores.entries()) await take(store, `db-${String(i)}`);
    const counted = await selected.exists('lease:{db-0}', 'lease:{db-1}', 'lease:{db-2}');
    expect(counted).toBe(3);
    expect(await rig.client.exists('lease:{db-0}', 'lease:{db-1}', 'lease:{db-2}')).toBe(0);
  });

  it('takes no settings of a ready client that would break ours', async () => {
    const client = rig.track(
      new Redis(rig.server.url, {
        lazyConnect: true,
        commandTimeout: 1,
        enableOfflineQueue: false,
        enableAutoPipelining: true,
        maxRetriesPerRequest: null,
        stringNumbers: true,
        retryStrategy: () => null,
      }),
    );
    const store = rig.store({ connection: client });
    const held = await take(store);
    expect(Number.isSafeInteger(held.fencingToken)).toBe(true);
    client.disconnect();
  });

  it('refuses calls after close, and may be closed twice', async () => {
    const store = rig.store();
    await take(store);
    await store.close();
    await store.close();
    await expect(store.acquire(ask())).rejects.toMatchObject({
      name: 'StoreError',
      message: expect.stringContaining('closed') as unknown as string,
    });
    const unused = rig.store();
    await unused.close();
    await expect(unused.ping()).rejects.toMatchObject({ name: 'StoreError' });
  });
});
