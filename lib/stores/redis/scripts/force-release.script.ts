import { leaseScript } from './lease-script.js';
import { PASS_ON } from './lua-line.js';
import { keepFence, LEASE_PATTERN, REMAINING } from './lua-parts.js';

/**
 * Ends each lease whoever holds it, and keeps its fence, so that the next token is higher; its line goes on. What is not a lease stays.
 *
 * KEYS for each lease: lease, fence, queue, waiters
 * ARGV: retention, wake
 * Reply for each lease: 0 free | {'record', remaining, token, tag, since, state, holder, waiters} | {'foreign', 'lease'}
 */
export const forceReleaseScript = leaseScript({
  name: 'force-release',
  keys: ['lease', 'fence', 'queue', 'waiters'],
  shared: ['retention', 'wake'],
  args: [],
  each: `
  local seen = call('MGET', lease, fence)
  local value, previous = seen[1], seen[2]
  if not value then
    if call('EXISTS', lease) == 1 then return { 'foreign', 'lease' } end
    return 0
  end
  local owner, own, granted, since, state, tag, holder = string.match(value, ${LEASE_PATTERN})
  if not owner then return { 'foreign', 'lease' } end
  local token = own
  ${REMAINING.trim()}
  call('DEL', lease)
  local line = try('ZCARD', queue)
  if state ~= 'r' then
    ${keepFence('tonumber(granted)').trim()}
  end
  local reply = { 'record', left, tonumber(own), tag, tonumber(since), state, holder, tonumber(line) or 0 }
  ${PASS_ON.trim()}
  return reply`,
});
