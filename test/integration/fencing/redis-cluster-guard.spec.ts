import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Cluster } from 'ioredis';
import { RedisFencingGuard } from 'nestjs-lease/fencing';
import { RedisServer } from '../../support/redis-server.js';
import { waitFor } from '../../support/wait-for.js';
import { holder } from './stories.js';

// One node with every slot: it refuses keys of several slots in one script as any Cluster does.
let server: RedisServer;
const clients: Cluster[] = [];
const connect = (keyPrefix?: string): Cluster => {
  const client = new Cluster([{ host: server.host, port: server.port }], keyPrefix === undefined ? {} : { keyPrefix });
  clients.push(client);
  return client;
};

beforeAll(async () => {
  server = await RedisServer.start({ args: ['--cluster-enabled', 'yes', '--cluster-announce-ip', '127.0.0.1'] });
  await server.ask('CLUSTER', 'ADDSLOTSRANGE', '0', '16383');
  await waitFor(async () => (await server.ask('CLUSTER', 'INFO')).includes('cluster_state:ok'), { message: 'the cluster' });
});
afterAll(async () => {
  for (const client of clients) client.disconnect();
  await server.stop();
});

const keys = ['plain', 'user:{7}:name', '{7}', 'a{b', '{{x}', 'ключ', 'a b"c', 'x{}{y}', 'end{t}:fence'];

it.each([undefined, 'app:', '{app}:', 'app{1}'])('a fence lies in the slot of its key, with the keyPrefix %s', async (prefix) => {
  const client = connect(prefix);
  const guard = new RedisFencingGuard(client);
  for (const key of keys) {
    if (key === 'x{}{y}' && !prefix?.includes('{')) continue;
    await guard.set(holder(34), key, 'new');
    await expect(guard.set(holder(33), key, 'late')).rejects.toMatchObject({
      code: 'FENCING_TOKEN_STALE',
      current: holder(34).fencingToken,
    });
    expect(await client.get(key)).toBe('new');
  }
});

it('says so where a key leaves no room for a fence, or keys are in several slots', async () => {
  const guard = new RedisFencingGuard(connect());
  for (const key of ['', '{}', 'x{}{y}', 'a}b']) {
    await expect(guard.set(holder(33), key, 'v')).rejects.toMatchObject({ code: 'LEASE_OPTIONS_INVALID', option: 'key' });
  }
  await expect(guard.run(holder(33), { keys: ['a', 'b'], script: '' })).rejects.toMatchObject({
    code: 'LEASE_OPTIONS_INVALID',
    option: 'keys',
  });
  expect(await guard.run(holder(33), { keys: ['{t}a', '{t}b'], script: 'return #KEYS' })).toBe(2);
});
