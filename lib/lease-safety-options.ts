import { LeaseOptionsError } from './errors/lease-options.error.js';
import type { LeaseModuleOptions } from './lease-module-options.js';
import { formatDuration, parseDuration } from './time/duration.js';

/** What protects leases against a Redis that forgets, after the check; times in milliseconds. */
export interface ResolvedSafety {
  readonly durability: { readonly replicas: number; readonly timeoutMs: number } | undefined;
  readonly amnesiaGuardMs: number | undefined;
}

const LONGEST_TTL_MS = 86_400_000;

/** @throws LeaseOptionsError naming the option, the value and the remedy */
export function checkSafety(raw: LeaseModuleOptions, ttlMs: number): ResolvedSafety {
  const { durability, amnesiaGuard, store } = raw;
  for (const [option, value] of Object.entries({ durability, amnesiaGuard })) {
    if (value === undefined || store === undefined) continue;
    throw new LeaseOptionsError(
      option,
      `The option "${option}" belongs to "connection", and would change nothing beside "store": give it to that store, as new RedisLeaseStore({ connection, ${option === 'durability' ? 'durability' : 'amnesiaGuardMs'} }).`,
    );
  }
  return { durability: checkDurability(durability), amnesiaGuardMs: checkGuard(amnesiaGuard, ttlMs) };
}

function checkDurability(value: unknown): ResolvedSafety['durability'] {
  if (value === undefined) return undefined;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new LeaseOptionsError('durability', `The option "durability" is ${shown(value)}: write it as { replicas: 1, timeout: '1s' }.`);
  }
  const { replicas, timeout = '1s', ...others } = value as { replicas?: unknown; timeout?: unknown };
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) {
    const option = `durability.${unknown}`;
    throw new LeaseOptionsError(option, `There is no option "${option}": known are "durability.replicas" and "durability.timeout".`);
  }
  if (typeof replicas !== 'number' || !Number.isSafeInteger(replicas) || replicas < 1) {
    throw new LeaseOptionsError(
      'durability.replicas',
      `The option "durability.replicas" is ${shown(replicas)}: it must be a whole number of 1 or more, and no more than the primary has replicas; leave "durability" out for none.`,
    );
  }
  return { replicas, timeoutMs: parseDuration('durability.timeout', timeout) };
}

function checkGuard(value: unknown, ttlMs: number): number | undefined {
  if (value === undefined) return undefined;
  const guardMs = parseDuration('amnesiaGuard', value, { maxMs: LONGEST_TTL_MS });
  if (guardMs >= ttlMs) return guardMs;
  throw new LeaseOptionsError(
    'amnesiaGuard',
    `The option "amnesiaGuard" is ${formatDuration(guardMs)}, shorter than "ttl" (${formatDuration(ttlMs)}): it must be the longest ttl of the fleet, or a holder that Redis has forgotten may still be at work when it is over.`,
  );
}

/** A value as messages name it. */
export const shown = (value: unknown): string => (typeof value === 'object' && value !== null ? 'an object' : String(value));
