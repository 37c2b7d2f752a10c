import type { ClusterNode, ClusterOptions, RedisOptions } from 'ioredis';
import { LeaseOptionsError } from '../../errors/lease-options.error.js';
import { isNodeRedisClient, isRedisClient, type RedisClient } from './redis-client.js';

/** A ready client of ioredis 5 or 6: single, Sentinel or Cluster. It stays as it is and stays open: we use a duplicate of it. */
export interface RedisClientLike {
  readonly status: string;
  duplicate(...args: never[]): unknown;
  evalsha(...args: never[]): unknown;
  defineCommand(...args: never[]): unknown;
  disconnect(...args: never[]): unknown;
  on(...args: never[]): unknown;
}

/** The nodes of a Redis Cluster to begin with, and the options of its ioredis client. */
export interface RedisClusterConnection {
  readonly cluster: { readonly nodes: readonly ClusterNode[]; readonly options?: ClusterOptions };
}

/** How Redis is reached: a URL, options of ioredis (`sentinels` included), a Cluster, or a ready client. */
export type RedisConnectionOption = string | RedisOptions | RedisClusterConnection | RedisClientLike;

/** The option after the check. */
export type ConnectionPlan =
  | { readonly kind: 'url'; readonly url: string }
  | { readonly kind: 'options'; readonly options: RedisOptions }
  | { readonly kind: 'cluster'; readonly nodes: readonly ClusterNode[]; readonly options: ClusterOptions }
  | { readonly kind: 'client'; readonly client: RedisClient & { duplicate(...args: unknown[]): RedisClient } };

/** Where Redis is when nothing is said. */
export const DEFAULT_CONNECTION = 'redis://127.0.0.1:6379';

const SHAPES =
  "give a URL ('redis://host:6379'), ioredis options ({ host, port }), { cluster: { nodes: [{ host, port }] } }, or a ready ioredis client";

/** The error never shows what was given: it may hold a password. */
function refuse(why: string, remedy = SHAPES): LeaseOptionsError {
  return new LeaseOptionsError('connection', `The option "connection" ${why}: ${remedy}.`);
}

/**
 * Checks the option. What is present but empty is refused: it must never turn into localhost.
 * @throws LeaseOptionsError
 */
export function planConnection(value: unknown): ConnectionPlan {
  if (value === undefined || value === null || value === '') {
    const shown = value === '' ? 'an empty text' : String(value);
    throw refuse(`is ${shown}`, `${SHAPES}; leave it out for ${DEFAULT_CONNECTION}`);
  }
  if (typeof value === 'string') return { kind: 'url', url: checkUrl(value) };
  if (typeof value !== 'object') throw refuse(`is a ${typeof value}`);
  if (Array.isArray(value))
    throw refuse('is a list', 'for a Redis Cluster give { cluster: { nodes: [{ host, port }, ...] } }, else one client or one address');
  if (isRedisClient(value)) return { kind: 'client', client: value };
  if (isNodeRedisClient(value)) throw refuse('is a client of node-redis', `clients of ioredis are understood; ${SHAPES}`);
  if ('then' in value) throw refuse('is a promise', 'wait for it and give its result');
  if ('cluster' in value) return planCluster(value.cluster);
  return { kind: 'options', options: checkOptions(value) };
}

function checkUrl(text: string): string {
  if (text.startsWith('/')) return text;
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    throw refuse('is not a readable URL', "write it as 'redis://user:password@host:6379/0' with special characters encoded");
  }
  if (url.protocol !== 'redis:' && url.protocol !== 'rediss:') {
    throw refuse(`is a text that does not begin with redis:// or rediss://`, "write it as 'redis://host:6379' ('rediss://' for TLS)");
  }
  checkHost(url.hostname);
  if (!/^\/?\d*$/.test(url.pathname)) throw refuse('has a URL whose path is not a database number', "write it as 'redis://host:6379/0'");
  return text;
}

/** `undefined` and `null` as text come from a template with a variable that was not set. */
function checkHost(host: unknown): void {
  if (typeof host === 'string' && host.trim() !== '' && host !== 'undefined' && host !== 'null') return;
  const shown = typeof host === 'string' ? `'${host}'` : String(host);
  throw refuse(`has a host without a name (${shown})`, 'name the host; is a variable of the environment not set?');
}

function checkPort(port: unknown): void {
  if (port === undefined) return;
  const number = typeof port === 'string' && port.trim() !== '' ? Number(port) : port;
  if (typeof number === 'number' && Number.isInteger(number) && number > 0 && number < 65_536) return;
  const shown = typeof port === 'string' || typeof port === 'number' ? String(port) : typeof port;
  throw refuse(`has the port ${shown}`, 'a port is a number from 1 to 65535; is a variable of the environment not set?');
}

function checkOptions(value: object): RedisOptions {
  const options = value as RedisOptions;
  // ioredis itself writes null where there are none.
  const sentinels: unknown = options.sentinels;
  if (sentinels !== undefined && sentinels !== null) {
    checkAddresses('sentinels', sentinels);
    if (!options.name) throw refuse('has sentinels but no name', 'add the name of the master group, for example name: "mymaster"');
  } else if (typeof options.path !== 'string' || options.path === '') {
    if ('nodes' in value) throw refuse('has "nodes"', 'for a Redis Cluster give { cluster: { nodes: [...] } }');
    checkHost(options.host);
    checkPort(options.port);
  }
  return options;
}

function planCluster(cluster: unknown): ConnectionPlan {
  const given = (typeof cluster === 'object' && cluster !== null ? cluster : {}) as { nodes?: unknown; options?: ClusterOptions };
  checkAddresses('cluster.nodes', given.nodes);
  return { kind: 'cluster', nodes: given.nodes as readonly ClusterNode[], options: given.options ?? {} };
}

function checkAddresses(name: string, list: unknown): void {
  if (!Array.isArray(list) || list.length === 0) throw refuse(`has no list of addresses in "${name}"`, 'give it as [{ host, port }, ...]');
  for (const address of list as unknown[]) {
    if (typeof address === 'string') checkUrl(address);
    else if (typeof address === 'object' && address !== null) {
      checkHost((address as { host?: unknown }).host);
      checkPort((address as { port?: unknown }).port);
    } else throw refuse(`has ${String(address)} in "${name}"`, 'each address is { host, port }');
  }
}
