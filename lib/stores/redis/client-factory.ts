import { Cluster, Redis } from 'ioredis';
import { clusterSettings, singleSettings } from './client-settings.js';
import type { ConnectionPlan } from './connection-option.js';
import type { RedisClient } from './redis-client.js';

/** Makes the client that is ours, unconnected. A ready client gives a duplicate, since its own connection may be blocked or subscribed. */
export function makeClient(plan: ConnectionPlan): RedisClient {
  switch (plan.kind) {
    case 'url':
      return new Redis(plan.url, singleSettings({})) as unknown as RedisClient;
    case 'options':
      return new Redis({ ...plan.options, ...singleSettings(plan.options) }) as unknown as RedisClient;
    case 'cluster': {
      const options = { ...plan.options, ...clusterSettings(plan.options) };
      return new Cluster([...plan.nodes], options) as unknown as RedisClient;
    }
    case 'client': {
      const { client } = plan;
      if (client.isCluster) return client.duplicate([], clusterSettings(client.options));
      // The database selected last; the options only know the first one.
      const db = client.condition?.select;
      return client.duplicate({ ...singleSettings(client.options), ...(db === undefined ? {} : { db }) });
    }
  }
}
