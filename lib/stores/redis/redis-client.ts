/** Settings of a client that we read. */
export interface RedisClientOptions {
  readonly keyPrefix?: string | undefined;
  readonly sentinels?: unknown;
  readonly connectionName?: string | null | undefined;
  readonly reconnectOnError?: ((error: Error) => boolean | 1 | 2) | null | undefined;
  readonly redisOptions?: RedisClientOptions | undefined;
}

/** What we use of a client of ioredis 5 or 6: single, Sentinel or Cluster. Matched by shape, never by class. */
export interface RedisClient {
  readonly status: string;
  readonly isCluster?: boolean | undefined;
  readonly options: RedisClientOptions;
  /** The state of the connection; `select` is the database that was selected last. Not part of the public types of ioredis. */
  readonly condition?: { readonly select?: number | undefined } | null | undefined;
  evalsha(sha: string, numberOfKeys: number, args: readonly (string | number)[]): Promise<unknown>;
  eval(lua: string, numberOfKeys: number, args: readonly (string | number)[]): Promise<unknown>;
  ping(): Promise<unknown>;
  subscribe(channel: string): Promise<unknown>;
  connect(): Promise<void>;
  disconnect(reconnect?: boolean): void;
  on(event: string, listener: (...args: never[]) => void): unknown;
}

const isFunction = (value: unknown): boolean => typeof value === 'function';

/** A ready client of ioredis. */
export function isRedisClient(value: object): value is RedisClient & { duplicate(...args: unknown[]): RedisClient } {
  const client = value as Record<string, unknown>;
  return (
    ['evalsha', 'defineCommand', 'duplicate', 'disconnect', 'on'].every((name) => isFunction(client[name])) &&
    typeof client.status === 'string'
  );
}

/** A client of node-redis, which is another library. */
export function isNodeRedisClient(value: object): boolean {
  const client = value as Record<string, unknown>;
  return isFunction(client.evalSha) || (isFunction(client.sendCommand) && 'isOpen' in client) || isFunction(client.EVALSHA);
}
