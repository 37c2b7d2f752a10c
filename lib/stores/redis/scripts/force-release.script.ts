import { leaseScript } from './lease-script.js';
import { FENCE_LIFE, FENCE_NUMBER, KEEP_FENCE, READ_LEASE, REMAINING } from './lua-helpers.js';

/**
 * Ends each lease whoever holds it, and keeps its fence, so that the next token is higher. What is not a lease stays.
 *
 * KEYS for each lease: lease, fence
 * ARGV: retention
 * Reply for each lease: 0 free | {'record', remaining, token, tag, since, state, holder} | {'foreign', 'lease'}
 */
export const forceReleaseScript = leaseScript({
  name: 'force-release',
  keys: ['lease', 'fence'],
  shared: ['retention'],
  args: [],
  helpers: [READ_LEASE, REMAINING, FENCE_LIFE, FENCE_NUMBER, KEEP_FENCE],
  each: `
  local seen = redis.call('MGET', lease, fence)
  if not seen[1] then
    if redis.call('EXISTS', lease) == 1 then return { 'foreign', 'lease' } end
    return 0
  end
  local owner, token, granted, since, state, tag, holder = read(seen[1])
  if not owner then return { 'foreign', 'lease' } end
  token, granted = tonumber(token), tonumber(granted)
  local left = remaining(lease, granted)
  redis.call('DEL', lease)
  keepFence(fence, seen[2], token, granted)
  return { 'record', left, token, tag, tonumber(since), state, holder }`,
});
