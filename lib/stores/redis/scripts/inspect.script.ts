import { leaseScript } from './lease-script.js';
import { LEASE_PATTERN, REMAINING } from './lua-parts.js';

/**
 * What is known of each lease; writes nothing.
 *
 * KEYS for each lease: lease, queue
 * ARGV: none
 * Reply for each lease: 0 free | {'record', remaining, token, tag, since, state, holder, waiters} | {'foreign', 'lease'}
 */
export const inspectScript = leaseScript({
  name: 'inspect',
  keys: ['lease', 'queue'],
  shared: [],
  args: [],
  each: `
  local value = try('GET', lease)
  if not value then return 0 end
  if type(value) == 'table' then return { 'foreign', 'lease' } end
  local owner, own, granted, since, state, tag, holder = string.match(value, ${LEASE_PATTERN})
  if not owner then return { 'foreign', 'lease' } end
  ${REMAINING.trim()}
  return { 'record', left, tonumber(own), tag, tonumber(since), state, holder, tonumber(try('ZCARD', queue)) or 0 }`,
});
