/** Settings of a client that we read. */
export interface RedisClientOptions {
  readonly keyPrefix?: string | undefined;
  readonly sentinels?: unknown;
  readonly host?: string | undefined;
  readonly port?: number | undefined;
  readonly path?: string | undefined;
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
  /** The socket, while there is one. Not part of the public types of ioredis. */
  readonly stream?: { readonly remoteAddress?: string | undefined; readonly remotePort?: number | undefined } | null | undefined;
  ping(): Promise<unknown>;
  info(): Promise<unknown>;
  config(action: 'GET', name: string): Promise<unknown>;
  wait(replicas: number, timeoutMs: number): Promise<unknown>;
  pipeline(commands: readonly (readonly (string | number)[])[]): { exec(): Promise<readonly [unknown, unknown][] | null> };
  /** Of a Cluster: its nodes, which node serves a slot (its address first), and how to ask anew. */
  nodes?(role: 'master'): RedisClient[];
  readonly slots?: readonly (readonly string[] | undefined)[];
  refreshSlotsCache?(done: (error?: unknown) => void): void;
  publish(channel: string, message: string): Promise<unknown>;
  subscribe(channel: string): Promise<unknown>;
  unsubscribe(channel: string): Promise<unknown>;
  spublish(channel: string, message: string): Promise<unknown>;
  ssubscribe(channel: string): Promise<unknown>;
  sunsubscribe(channel: string): Promise<unknown>;
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
