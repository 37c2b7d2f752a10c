import { afterEach, describe, expect, it } from '@jest/globals';
import { Cluster, Redis } from 'ioredis';
import {
  type LeaseOptionsError,
  MemoryLeaseStore,
  QuorumLeaseStore,
  type LeaseStore,
  type QuorumNodeOption,
} from '../../../../lib/index.js';

const clients: (Redis | Cluster)[] = [];
const client = (port: number, options = {}): Redis => {
  const made = new Redis({ port, lazyConnect: true, ...options });
  clients.push(made);
  return made;
};

afterEach(() => {
  for (const one of clients.splice(0)) one.disconnect();
});

function refusal(nodes: unknown, options?: object): LeaseOptionsError {
  try {
    new QuorumLeaseStore(nodes as QuorumNodeOption[], options);
  } catch (error) {
    return error as LeaseOptionsError;
  }
  throw new Error('It was not refused.');
}

const urls = ['redis://a:6379', 'redis://b:6379', 'redis://c:6379'];
const memory = (): MemoryLeaseStore[] => [new MemoryLeaseStore(), new MemoryLeaseStore(), new MemoryLeaseStore()];

describe('the nodes of a quorum', () => {
  it('are URLs, options, clients or stores, in any mixture; nothing is opened', () => {
    new QuorumLeaseStore(urls);
    new QuorumLeaseStore([client(1), { host: 'b' }, 'redis://c']);
    new QuorumLeaseStore(memory());
    const { capabilities } = new QuorumLeaseStore([urls[0]!, ...memory()]);
    expect(capabilities).toEqual({ name: 'quorum', shared: false, clock: 'process', wakeUp: 'poll', fifo: false });
    expect(new QuorumLeaseStore(urls).capabilities).toMatchObject({ shared: true, clock: 'server' });
  });

  it.each([
    ['none', [], '0 nodes'],
    ['one', urls.slice(0, 1), '1 node:'],
    ['two', urls.slice(0, 2), '2 nodes'],
    ['no list', urls[0], 'not a list'],
    ['nothing', undefined, 'not a list'],
  ])('are three at least: %s', (_, nodes, says) => {
    const error = refusal(nodes);
    expect(error).toMatchObject({ code: 'LEASE_OPTIONS_INVALID', option: 'nodes' });
    expect(error.message).toContain(says);
  });

  it('are different ones: the same URL, client or store, or the same address in another form', () => {
    const [a, b] = urls as [string, string];
    const one = client(7001);
    const [store, other] = memory();
    const same = [
      [a, b, a],
      [b, a, 'redis://user:secret@a'],
      [b, { host: 'a' }, 'redis://a:6379/0'],
      [one, 'redis://127.0.0.1:7002', one],
      ['redis://127.0.0.1:7002', client(7001), 'redis://127.0.0.1:7001'],
      [store, other, store],
    ];
    for (const nodes of same) expect(refusal(nodes).message).toMatch(/nodes \d and \d are the same/);
  });

  it('are single servers: no Sentinel, no Cluster', () => {
    const sentinel = { sentinels: [{ host: 's' }], name: 'mymaster' };
    const cluster = new Cluster([{ host: 'x' }], { lazyConnect: true });
    clients.push(cluster);
    for (const node of [sentinel, client(1, sentinel)])
      expect(refusal([...urls.slice(1), node]).message).toContain('node 3: it is a Sentinel group');
    for (const node of [{ cluster: { nodes: [{ host: 'x' }] } }, cluster])
      expect(refusal([node, ...urls.slice(1)]).message).toContain('node 1: it is a Cluster');
  });

  it('are named when one cannot be used', () => {
    expect(refusal([...urls.slice(1), undefined]).message).toMatch(/^The quorum cannot use node 3: .*undefined/);
    expect(refusal([...urls.slice(1), 'redis://']).message).toMatch(/^The quorum cannot use node 3: /);
    const stranger = { acquire: () => undefined, renew: () => undefined, capabilities: { name: 'stone' } } as unknown as LeaseStore;
    expect(refusal([...urls.slice(1), stranger]).message).toContain('have a store "stone" (node 3), which cannot be one');
  });
});

describe('the options of a quorum', () => {
  it.each([
    ['nodeTimeout', 500, 'string with its unit'],
    ['nodeTimeout', '0s', 'longer than zero'],
    ['longestTtl', 1000, 'milliseconds'],
    ['longestTtl', '2d', 'at most 1d'],
    ['fenceRetention', -1, 'longer than zero'],
    ['nodesForget', 'no', 'true or false'],
    ['namespace', 'a{b}', 'without braces'],
    ['nodeTimeut', '1s', 'Did you mean "nodeTimeout"?'],
    ['retries', 3, 'Known are nodeTimeout'],
  ])('%s: %j is refused', (option, value, says) => {
    const error = refusal(urls, { [option]: value });
    expect(error).toMatchObject({ code: 'LEASE_OPTIONS_INVALID', option });
    expect(error.message).toContain(says);
  });
});
