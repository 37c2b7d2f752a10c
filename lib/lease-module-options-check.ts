import { hostname } from 'node:os';
import { LeaseOptionsError } from './errors/lease-options.error.js';
import { nearestName } from './errors/nearest-name.js';
import { parseMaxHold, parseTtl, parseWait, type LeaseDefaults } from './lease/lease-options.js';
import { DEFAULT_SERVICE } from './lease.constants.js';
import type { LeaseModuleOptions } from './lease-module-options.js';
import { checkSafety, shown, type ResolvedSafety } from './lease-safety-options.js';
import type { LeaseStore } from './stores/lease-store.js';
import { formatDuration, parseDuration } from './time/duration.js';

/** The options of one service after the check; times in milliseconds. */
export interface ResolvedModuleOptions extends ResolvedSafety {
  readonly name: string;
  readonly connection: LeaseModuleOptions['connection'];
  readonly store: LeaseStore | undefined;
  readonly namespace: string;
  readonly holder: string;
  readonly defaults: LeaseDefaults;
  readonly connectOnStart: boolean;
  readonly shutdownGraceMs: number;
  readonly fenceRetentionMs: number;
  readonly maxQueue: number | undefined;
  /** What is allowed but should be known; logged at start-up. */
  readonly warnings: readonly string[];
}

const OPTIONS: Record<keyof LeaseModuleOptions, true> = {
  connection: true,
  store: true,
  name: true,
  namespace: true,
  holder: true,
  ttl: true,
  wait: true,
  maxHold: true,
  commandTimeout: true,
  connectOnStart: true,
  shutdownGrace: true,
  fenceRetention: true,
  maxQueue: true,
  durability: true,
  amnesiaGuard: true,
};

const SHORT_TTL_MS = 1000;

/**
 * Checks everything at start-up and fills in the defaults. `name` is the service's as the module was told it.
 * @throws LeaseOptionsError naming the option, the value and the remedy
 */
export function resolveModuleOptions(raw: LeaseModuleOptions, name: string = DEFAULT_SERVICE): ResolvedModuleOptions {
  checkShape(raw);
  checkName(raw, name);
  // Only what is left out or `undefined` falls back to the default: `null` is a mistake.
  const { ttl = 30, wait = 0, commandTimeout = '5s', shutdownGrace = 10, fenceRetention = '24h', connectOnStart = false } = raw;
  const { namespace = 'lease', holder = `${hostname()}:${String(process.pid)}` } = raw;
  const defaults: LeaseDefaults = {
    ttlMs: parseTtl(ttl),
    waitMs: parseWait(wait),
    maxHoldMs: raw.maxHold === undefined ? undefined : parseMaxHold(raw.maxHold),
    commandTimeoutMs: parseDuration('commandTimeout', commandTimeout, { stringOnly: true }),
  };
  return {
    name,
    ...source(raw),
    namespace: checkNamespace(namespace),
    holder: checkText('holder', holder),
    defaults,
    connectOnStart: checkBoolean('connectOnStart', connectOnStart),
    shutdownGraceMs: parseDuration('shutdownGrace', shutdownGrace),
    fenceRetentionMs: parseDuration('fenceRetention', fenceRetention),
    maxQueue: checkMaxQueue(raw.maxQueue),
    ...checkSafety(raw, defaults.ttlMs),
    warnings: warningsOf(defaults),
  };
}

function checkShape(raw: unknown): void {
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) {
    const shown = Array.isArray(raw) ? 'an array' : String(raw);
    throw new LeaseOptionsError(
      'options',
      `The options of LeaseModule are ${shown}: give an object (a factory must return one, {} for the defaults).`,
    );
  }
  for (const option of Object.keys(raw)) {
    if (Object.hasOwn(OPTIONS, option)) continue;
    const near = nearestName(option, Object.keys(OPTIONS));
    const remedy = near === undefined ? `Known are ${Object.keys(OPTIONS).join(', ')}` : `Did you mean "${near}"?`;
    throw new LeaseOptionsError(option, `LeaseModule has no option "${option}". ${remedy}`);
  }
}

function checkName(raw: LeaseModuleOptions, registered: unknown): void {
  const name = checkText('name', registered);
  if (raw.name === undefined || raw.name === name) return;
  const given = raw.name;
  throw new LeaseOptionsError(
    'name',
    `The option "name" is '${given}' in the result of the factory, but the service is registered as '${name}': ` +
      `injection tokens depend on it, so give it beside the factory, as in forRootAsync({ name: '${given}', useFactory }).`,
  );
}

/** Which store: a connection that is present must be one, since a missing variable must never mean localhost. */
function source(raw: LeaseModuleOptions): Pick<ResolvedModuleOptions, 'connection' | 'store'> {
  const { store } = raw;
  const connection: unknown = raw.connection;
  if (store !== undefined) {
    if ('connection' in raw) {
      throw new LeaseOptionsError('store', 'The options "store" and "connection" exclude each other: leave out the one that is not meant.');
    }
    return { connection: undefined, store: checkStore(store) };
  }
  if (!('connection' in raw)) return { connection: 'redis://127.0.0.1:6379', store: undefined };
  if (connection === undefined || connection === null || (typeof connection === 'string' && connection.trim() === '')) {
    const shown = connection === undefined || connection === null ? String(connection) : 'empty';
    throw new LeaseOptionsError(
      'connection',
      `The option "connection" is present but ${shown} (a missing environment variable?): give a URL such as 'redis://host:6379', or leave the option out for 127.0.0.1.`,
    );
  }
  return { connection: raw.connection, store: undefined };
}

function checkStore(store: unknown): LeaseStore {
  if (typeof store === 'object' && store !== null && 'acquire' in store && 'renew' in store && 'capabilities' in store) {
    return store as LeaseStore;
  }
  throw new LeaseOptionsError(
    'store',
    'The option "store" is not a LeaseStore: give an instance, such as new MemoryLeaseStore(), not a class or a client.',
  );
}

function checkNamespace(value: unknown): string {
  const namespace = checkText('namespace', value);
  if (!/[{}]/.test(namespace)) return namespace;
  throw new LeaseOptionsError(
    'namespace',
    `The option "namespace" is '${namespace}': it must not contain braces, which would decide the slot of every key in a Redis Cluster.`,
  );
}

/** @throws LeaseOptionsError unless it is a string with something in it */
export function checkText(option: string, value: unknown): string {
  if (typeof value === 'string' && value.trim() !== '') return value;
  const what = typeof value === 'string' ? 'empty' : shown(value);
  throw new LeaseOptionsError(option, `The option "${option}" is ${what}: give a string that is not empty, or leave it out.`);
}

function checkBoolean(option: string, value: unknown): boolean {
  if (typeof value === 'boolean') return value;
  throw new LeaseOptionsError(option, `The option "${option}" is ${shown(value)}: it must be true or false.`);
}

function checkMaxQueue(value: unknown): number | undefined {
  if (value === undefined) return undefined;
  if (typeof value === 'number' && Number.isSafeInteger(value) && value > 0) return value;
  throw new LeaseOptionsError('maxQueue', `The option "maxQueue" is ${shown(value)}: it must be a whole number of 1 or more.`);
}

function warningsOf({ ttlMs }: LeaseDefaults): string[] {
  if (ttlMs >= SHORT_TTL_MS) return [];
  return [
    `The option "ttl" is ${formatDuration(ttlMs)}: below 1s a lease is lost to a short pause of the event loop or of the network; ` +
      'a lease is given back when the handler ends, whatever its ttl.',
  ];
}
