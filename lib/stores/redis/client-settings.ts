import { isReadOnly } from './redis-errors.js';
import type { RedisClientOptions } from './redis-client.js';

const CONNECTION_NAME = 'nestjs-lease';
/** A call is repeated on another node of a Cluster for at most so many times 100 ms. */
const MOST_REDIRECTIONS = 50;

/** Milliseconds before the next try to connect: 50, 100, 200, 400, then half a second, and a little apart from other processes. */
function retryDelay(times: number): number {
  return Math.min(50 * 2 ** (times - 1), 500) + Math.floor(Math.random() * 50);
}

/**
 * What a connection of ours needs to be, whatever the user's own client is like.
 *
 * - It opens with the first call, and comes back by itself for ever.
 * - ioredis keeps no call back: `maxRetriesPerRequest: 0` rejects what is in flight as soon as the connection breaks, instead
 *   of sending it again at a time when nobody waits for it any more. Calls that come while there is no connection wait in
 *   `RedisConnection`, which knows when to give up.
 * - No time limit of ioredis (a command that it gives up is carried out all the same): the caller has one.
 * - A primary that has become a replica (READONLY) is left at once, and in Sentinel mode a failover is watched for.
 */
export function singleSettings(user: RedisClientOptions): Record<string, unknown> {
  const { reconnectOnError, connectionName, sentinels } = user;
  return {
    lazyConnect: true,
    enableOfflineQueue: true,
    // Ours (`Greeter`) also works where INFO is refused; that of a Sentinel client also looks whether it has reached a primary.
    enableReadyCheck: Boolean(sentinels),
    maxRetriesPerRequest: 0,
    enableAutoPipelining: false,
    commandTimeout: undefined,
    socketTimeout: undefined,
    stringNumbers: false,
    // How long a socket may take to say goodbye; on a half-open one nobody answers.
    disconnectTimeout: 100,
    connectionName: connectionName ?? CONNECTION_NAME,
    retryStrategy: retryDelay,
    reconnectOnError: (error: Error) => isReadOnly(error) || (reconnectOnError?.(error) ?? false),
    ...(sentinels ? { failoverDetector: true, sentinelRetryStrategy: retryDelay } : {}),
  };
}

/** The same for a Cluster, whose client has no limit for calls in flight but for their redirections. */
export function clusterSettings(user: RedisClientOptions): Record<string, unknown> {
  const { commandTimeout, socketTimeout, stringNumbers, disconnectTimeout, connectionName } = singleSettings(user.redisOptions ?? {});
  return {
    lazyConnect: true,
    enableOfflineQueue: true,
    enableAutoPipelining: false,
    scaleReads: 'master',
    maxRedirections: MOST_REDIRECTIONS,
    clusterRetryStrategy: retryDelay,
    redisOptions: { ...user.redisOptions, commandTimeout, socketTimeout, stringNumbers, disconnectTimeout, connectionName },
  };
}
