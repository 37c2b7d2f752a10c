import { leaseScript } from './lease-script.js';
import { keepFence, LEASE_PATTERN } from './lua-parts.js';

/**
 * Ends each lease that its holder still has, but leaves its key taken by nobody (`c`) for `rest` milliseconds, and heals and
 * refreshes its fence; what belongs to somebody else, or is not a lease, stays.
 *
 * KEYS for each lease: lease, fence
 * ARGV: retention; for each lease: holderId, token, rest
 * Reply for each lease: 1 released | 0 not held
 */
export const coolDownScript = leaseScript({
  name: 'cool-down',
  keys: ['lease', 'fence'],
  shared: ['retention'],
  args: ['holderId', 'token', 'rest'],
  each: `
  local seen = call('MGET', lease, fence)
  local value, previous = seen[1], seen[2]
  if not value then return 0 end
  local owner, own, granted, since, state, tag, holder = string.match(value, ${LEASE_PATTERN})
  if owner ~= holderId then return 0 end
  -- First the shorter or longer time, which is never refused for want of memory.
  call('PEXPIRE', lease, rest)
  try('SET', lease, ' ' .. own .. ' ' .. rest .. ' ' .. since .. ' c ' .. tag .. ' ' .. holder, 'PX', rest)
  ${keepFence('tonumber(granted)').trim()}
  return 1`,
});
