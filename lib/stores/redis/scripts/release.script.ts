import { leaseScript } from './lease-script.js';
import { keepFence, OWNER_PATTERN } from './lua-parts.js';

/**
 * Ends each lease that its holder still has, and heals and refreshes its fence; what belongs to somebody else, or is not a
 * lease, stays. Also undoes an acquire (`token` 0).
 *
 * KEYS for each lease: lease, fence
 * ARGV: retention; for each lease: holderId, token
 * Reply for each lease: 1 released | 0 not held
 */
export const releaseScript = leaseScript({
  name: 'release',
  keys: ['lease', 'fence'],
  shared: ['retention'],
  args: ['holderId', 'token'],
  each: `
  local seen = call('MGET', lease, fence)
  local value, previous = seen[1], seen[2]
  if not value then return 0 end
  local owner, own, granted = string.match(value, ${OWNER_PATTERN})
  if owner ~= holderId then return 0 end
  call('DEL', lease)
  ${keepFence('tonumber(granted)').trim()}
  return 1`,
});
