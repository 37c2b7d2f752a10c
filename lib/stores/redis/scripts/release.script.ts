import { leaseScript } from './lease-script.js';
import { FENCE_LIFE, FENCE_NUMBER, HIGHEST, KEEP_FENCE, READ_LEASE } from './lua-helpers.js';

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
  helpers: [READ_LEASE, FENCE_LIFE, FENCE_NUMBER, KEEP_FENCE, HIGHEST],
  each: `
  local seen = redis.call('MGET', lease, fence)
  if not seen[1] then return 0 end
  local owner, own, granted = read(seen[1])
  if owner ~= holderId then return 0 end
  redis.call('DEL', lease)
  keepFence(fence, seen[2], highest(tonumber(own), tonumber(token)), tonumber(granted))
  return 1`,
});
