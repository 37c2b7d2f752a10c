import { leaseScript } from './lease-script.js';
import { EXTEND, FENCE_LIFE, FENCE_NUMBER, HIGHEST, KEEP_FENCE, READ_LEASE, REMAINING, WRITE_LEASE } from './lua-helpers.js';

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
  helpers: [READ_LEASE, WRITE_LEASE, REMAINING, EXTEND, FENCE_LIFE, FENCE_NUMBER, KEEP_FENCE, HIGHEST],
  each: `
  local seen = redis.call('MGET', lease, fence)
  if not seen[1] then
    if redis.call('EXISTS', lease) == 1 then return { 'foreign', 'lease' } end
    return 0
  end
  local owner, own, granted, since, _, tag, holder = read(seen[1])
  if not owner then return { 'foreign', 'lease' } end
  own = tonumber(own)
  if owner ~= holderId then return { 'taken', own } end
  ttl = extend(lease, holderId, own, tonumber(granted), since, tag .. ' ' .. holder, tonumber(ttl))
  keepFence(fence, seen[2], highest(own, tonumber(token)), ttl)
  return 1`,
});
