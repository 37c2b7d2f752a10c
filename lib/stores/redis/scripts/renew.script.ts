import { leaseScript } from './lease-script.js';
import { EXTEND, keepFence, LEASE_PATTERN } from './lua-parts.js';

/**
 * Extends each lease that its holder still has, then heals and refreshes its fence. Never creates a lease, never shortens one.
 *
 * KEYS for each lease: lease, fence
 * ARGV: retention; for each lease: holderId, ttl, token
 * Reply for each lease: 1 held | 0 gone | {'taken', token} | {'foreign', 'lease'}
 */
export const renewScript = leaseScript({
  name: 'renew',
  keys: ['lease', 'fence'],
  shared: ['retention'],
  args: ['holderId', 'ttl', 'token'],
  each: `
  local seen = call('MGET', lease, fence)
  local value, previous = seen[1], seen[2]
  if not value then
    if call('EXISTS', lease) == 1 then return { 'foreign', 'lease' } end
    return 0
  end
  local owner, own, granted, since, state, tag, holder = string.match(value, ${LEASE_PATTERN})
  if not owner then return { 'foreign', 'lease' } end
  if owner ~= holderId then return { 'taken', tonumber(own) } end
  ${EXTEND.trim()}
  ${keepFence('longest').trim()}
  return 1`,
});
