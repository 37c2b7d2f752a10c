import { LeaseOptionsError } from '../../errors/lease-options.error.js';
import type { FencedBy } from '../fenced-by.js';

interface DriverError {
  readonly code?: unknown;
  readonly errno?: unknown;
  readonly message?: unknown;
  readonly cause?: unknown;
  readonly driverError?: unknown;
}

const CONFLICT_CODES = new Set<unknown>(['40001', '40P01', 'ER_LOCK_DEADLOCK', 'ER_CHECKREAD', 1213, 1020]);
const OUT_OF_RANGE = new Set<unknown>(['22003', 'ER_WARN_DATA_OUT_OF_RANGE', 1264]);

/**
 * True when the database has given up a transaction in favour of another (serialization failure or deadlock), however the
 * client at hand wraps that. It says nothing of the token: run the whole transaction again, and the fence decides then.
 */
export function isSerializationFailure(error: unknown): boolean {
  return rootCauses(error).some((one) => CONFLICT_CODES.has(one.code) || CONFLICT_CODES.has(one.errno));
}

/** What a caller should see: a fence column that is too small for a token is a mistake in the schema, everything else stays as it is. */
export function explainSqlError(error: unknown, lease: FencedBy, tokenColumn: string): unknown {
  const range = rootCauses(error).find((one) => OUT_OF_RANGE.has(one.code) || OUT_OF_RANGE.has(one.errno));
  if (range === undefined) return error;
  // Some clients put the statement before the server's words, and the token may stand there too.
  const words = String(range.message).split(' - ').at(-1) ?? '';
  const ours = words.includes(String(lease.fencingToken)) || words.includes(`'${tokenColumn}'`);
  return ours ? tooSmall(tokenColumn, lease.fencingToken, error) : error;
}

/** The error for a fence column of a type that cannot keep tokens. */
export function tooSmall(column: string, token: number | undefined, cause?: unknown, type = 'the type it has'): LeaseOptionsError {
  const what = token === undefined ? 'fencing tokens' : `the fencing token ${String(token)}`;
  return new LeaseOptionsError(
    'fencingToken',
    `The column "${column}" cannot keep ${what} with ${type}: tokens exceed 2^31 and lose digits in a float. Make it BIGINT.`,
    { cause },
  );
}

function rootCauses(error: unknown): DriverError[] {
  const found: DriverError[] = [];
  for (let one = error; typeof one === 'object' && one !== null && found.length < 5;) {
    const next = one as DriverError;
    found.push(next);
    one = next.driverError ?? next.cause;
  }
  return found;
}
