import { Cluster, Redis } from 'ioredis';
import { clusterSettings, singleSettings } from './client-settings.js';
import type { ConnectionPlan } from './connection-option.js';
import type { RedisClient } from './redis-client.js';

/** Makes a client that is ours, unconnected, with `extra` settings. A ready client gives a duplicate, since its own connection may be blocked or subscribed. */
export function makeClient(plan: ConnectionPlan, extra: Record<string, unknown> = {}): RedisClient {
  switch (plan.kind) {
    case 'url':
      return new Redis(plan.url, { ...singleSettings({}), ...extra }) as unknown as RedisClient;
    case 'options':
      return new Redis({ ...plan.options, ...singleSettings(plan.options), ...extra }) as unknown as RedisClient;
    case 'cluster': {
      const options = { ...plan.options, ...clusterSettings(plan.options), ...extra };
      return withQuietAsking(new Cluster([...plan.nodes], options) as unknown as RedisClient);
    }
    case 'client': {
      const { client } = plan;
      if (client.isCluster) return withQuietAsking(client.duplicate([], { ...clusterSettings(client.options), ...extra }));
      // The database selected last; the options only know the first one.
      const db = client.condition?.select;
      return client.duplicate({ ...singleSettings(client.options), ...extra, ...(db === undefined ? {} : { db }) });
    }
  }
}

/**
 * ioredis sends ASKING to the new node of a key whose slot is moving, and looks at no answer: when that connection breaks, the
 * rejection that nobody handles would end the process.
 */
function withQuietAsking(cluster: RedisClient): RedisClient {
  cluster.on('+node', (node: { asking(): Promise<unknown> }) => {
    const asking = node.asking.bind(node);
    node.asking = () => {
      const answer = asking();
      answer.catch(() => undefined);
      return answer;
    };
  });
  return cluster;
}

/** A connection of its own to the node of a Cluster that `node` is connected to. */
export function makeNodeClient(node: RedisClient): RedisClient {
  const own = { ...singleSettings(node.options), readOnly: false, keyPrefix: undefined, autoResubscribe: false };
  return (node as RedisClient & { duplicate(options: object): RedisClient }).duplicate(own);
}

/** Ends a client of ours for good. One that is just connecting to a primary of Sentinel would still begin to watch the sentinels. */
export function endClient(client: RedisClient): void {
  client.on('connect', () => client.disconnect());
  client.disconnect();
}
