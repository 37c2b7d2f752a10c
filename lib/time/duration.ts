import { LeaseOptionsError } from '../errors/lease-options.error.js';

/** A length of time: a number of **seconds**, or a string with its unit (`'500ms'`, `'30s'`, `'2m'`, `'2h'`, `'1d'`). */
export type Duration = number | string;

/** Limits of one option. All in milliseconds. */
export interface DurationRules {
  /** Zero is a value of its own (as for `wait`), not a mistake. */
  readonly zero?: boolean;
  /** A bare number is refused, since the ecosystem reads it as milliseconds in this place. */
  readonly stringOnly?: boolean;
  readonly minMs?: number;
  readonly maxMs?: number;
}

const UNIT_MS: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const WITH_UNIT = /^(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)$/;
/** Above this many seconds a bare number is probably meant as milliseconds. */
const LARGEST_BARE_NUMBER = 600;
const ROUNDING = 1e-6;

/**
 * Reads the option named `option` and returns whole milliseconds.
 * @throws LeaseOptionsError naming the option, the value and how to write it.
 */
export function parseDuration(option: string, value: unknown, rules: DurationRules = {}): number {
  const ms = roundToWhole(readMs(option, value, rules), option, value);
  if (ms === 0 && rules.zero) return 0;
  if (ms <= 0) throw refuse(option, value, `must be longer than zero${rules.zero ? ', or zero' : ''}`);
  if (rules.minMs !== undefined && ms < rules.minMs) throw refuse(option, value, `must be at least ${formatDuration(rules.minMs)}`);
  if (rules.maxMs !== undefined && ms > rules.maxMs) throw refuse(option, value, `must be at most ${formatDuration(rules.maxMs)}`);
  return ms;
}

function readMs(option: string, value: unknown, rules: DurationRules): number {
  if (typeof value === 'string') return readString(option, value);
  if (typeof value !== 'number') throw refuse(option, value, `must be a number of seconds or a string such as '30s'`);
  if (!Number.isFinite(value)) throw refuse(option, value, 'must be a finite number of seconds');
  if (Math.abs(value) * 1000 > Number.MAX_SAFE_INTEGER) throw refuse(option, value, 'is out of range');
  if (rules.stringOnly)
    throw refuse(
      option,
      value,
      `must be a string with its unit here, such as '${String(Math.abs(value))}s' or '${String(Math.abs(value))}ms'`,
    );
  if (value > LARGEST_BARE_NUMBER) {
    const n = String(value);
    throw refuse(option, value, `is read as ${n} seconds but may be meant as ${n} milliseconds: write '${n}s' or '${n}ms'`);
  }
  return value * 1000;
}

function readString(option: string, value: string): number {
  const match = WITH_UNIT.exec(value.trim());
  if (!match) throw refuse(option, value, `cannot be read: write a number and a unit (ms, s, m, h, d), such as '500ms' or '30s'`);
  return Number(match[1]) * (UNIT_MS[match[2] as string] as number);
}

function roundToWhole(ms: number, option: string, value: unknown): number {
  const whole = Math.round(ms);
  if (!Number.isSafeInteger(whole)) throw refuse(option, value, 'is out of range');
  if (Math.abs(ms - whole) > ROUNDING) throw refuse(option, value, 'has a fraction of a millisecond: write whole milliseconds');
  return whole;
}

function refuse(option: string, value: unknown, why: string): LeaseOptionsError {
  return new LeaseOptionsError(option, `The option "${option}" is ${show(value)}: it ${why}.`);
}

/** Long enough for every duration that somebody meant to write. */
const LONGEST_SHOWN = 40;

function show(value: unknown): string {
  if (typeof value === 'string') return value.length > LONGEST_SHOWN ? `'${value.slice(0, LONGEST_SHOWN)}…'` : `'${value}'`;
  if (typeof value === 'function') return 'a function';
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'an array' : 'an object';
  return String(value);
}

/** Milliseconds as a person would write them: `1500` is `1500ms`, `60000` is `1m`. */
export function formatDuration(ms: number): string {
  for (const unit of ['d', 'h', 'm', 's'] as const) {
    const size = UNIT_MS[unit] as number;
    if (ms >= size && ms % size === 0) return `${String(ms / size)}${unit}`;
  }
  return `${String(ms)}ms`;
}
