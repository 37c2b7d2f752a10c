import { LeaseOptionsError } from '../../errors/lease-options.error.js';
import type { Clock } from '../../time/clock.js';
import type { RedisConnectionOption } from './connection-option.js';

/** How many replicas must have a grant before it counts. */
export interface RedisDurability {
  /** A whole number of 1 or more: at most as many as the primary has. Only with all of them is it certain that the one promoted has it. */
  readonly replicas: number;
  /**
   * How long to wait for them, in milliseconds; less for a lease whose ttl leaves no time for it (a fourteenth of it). Default:
   * 1,000.
   */
  readonly timeoutMs?: number | undefined;
}

/** How a `RedisLeaseStore` is set up. */
export interface RedisLeaseStoreOptions {
  /**
   * How Redis is reached: a URL, ioredis options (`sentinels` included), `{ cluster: { nodes, options } }`, or a ready client
   * of ioredis 5 or 6, of which a duplicate is used. Default, only where it is left out: `redis://127.0.0.1:6379`.
   */
  readonly connection?: RedisConnectionOption;
  /** Prefix of every key; no braces. Default: `lease`. */
  readonly namespace?: string;
  /** How long the last token of an idle key is remembered, in milliseconds. Default: 24 hours. */
  readonly fenceRetentionMs?: number;
  /** How long a call waits for a connection while there is none, in milliseconds; its caller may give it up sooner. Default: 5,000. */
  readonly patienceMs?: number;
  /**
   * A grant counts only when so many replicas have it (WAIT, on a connection for grants alone); else it rejects, and must be taken
   * back as one without an answer. Default: none.
   */
  readonly durability?: RedisDurability | undefined;
  /**
   * The longest ttl of the fleet, in milliseconds: for so long nothing is granted after the server has restarted, or another one
   * has taken over. Default: no guard.
   */
  readonly amnesiaGuardMs?: number | undefined;
  /** Times the waiting for a connection, pauses, and nothing that Redis decides. Default: the clock of the machine. */
  readonly clock?: Clock;
}

const DURABILITY_TIMEOUT_MS = 1000;

/** @throws LeaseOptionsError */
export function checkDurability(durability: RedisDurability | undefined): Required<RedisDurability> | undefined {
  if (durability === undefined) return undefined;
  const { replicas, timeoutMs = DURABILITY_TIMEOUT_MS } = durability;
  checkWhole('durability.replicas', replicas, '');
  checkWhole('durability.timeout', timeoutMs, ' ms');
  return { replicas, timeoutMs };
}

/** @throws LeaseOptionsError unless it is a whole number above zero */
export function checkWhole(option: string, value: unknown, unit: string): void {
  if (Number.isSafeInteger(value) && (value as number) > 0) return;
  throw new LeaseOptionsError(option, `The option "${option}" is ${String(value)}${unit}: it must be whole and longer than zero.`);
}
