import { leaseScript } from './lease-script.js';
import { PASS_ON } from './lua-line.js';
import { keepFence, READ_LEASE, REMAINING } from './lua-parts.js';

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
  ${READ_LEASE.trim()}
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
