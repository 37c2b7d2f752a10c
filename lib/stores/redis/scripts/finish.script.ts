import { leaseScript } from './lease-script.js';
import { PASS_ON } from './lua-line.js';
import { keepFence, LEASE_PATTERN } from './lua-parts.js';

/**
 * Writes how each scheduled run ended, if it is still the current one, and ends its lease, or leaves it taken by nobody (`c`)
 * until `atLeast` after its grant. What belongs to somebody else stays. By pcall where the release must not depend on it.
 *
 * KEYS for each lease: lease, fence, record, queue, waiters
 * ARGV: retention, wake; for each lease: holderId, token, outcome, atLeast, keep
 * Reply for each lease: 1 released | 0 not held
 */
export const finishScript = leaseScript({
  name: 'finish',
  keys: ['lease', 'fence', 'record', 'queue', 'waiters'],
  shared: ['retention', 'wake'],
  args: ['holderId', 'token', 'outcome', 'atLeast', 'keep'],
  each: `
  local now = math.floor(micros / 1000)
  local run = try('HMGET', record, 'owner', 'state')
  if run[1] == holderId and run[2] == 'running' then
    try('HSET', record, 'state', outcome, 'ended', string.format('%.0f', now))
    try('PEXPIRE', record, keep)
  end
  local seen = call('MGET', lease, fence)
  local value, previous = seen[1], seen[2]
  if not value then return 0 end
  local owner, own, granted, since, state, tag, holder = string.match(value, ${LEASE_PATTERN})
  if owner ~= holderId then return 0 end
  local rest = tonumber(since) + tonumber(atLeast) - now
  if rest > 0 and outcome ~= 'unstarted' then
    -- First the shorter or longer time, which is never refused for want of memory.
    call('PEXPIRE', lease, rest)
    try('SET', lease, ' ' .. own .. ' ' .. rest .. ' ' .. since .. ' c ' .. tag .. ' ' .. holder, 'PX', rest)
  else
    call('DEL', lease)
    rest = 0
  end
  ${keepFence('tonumber(granted)').trim()}
  if rest <= 0 then
    ${PASS_ON.trim()}
  end
  return 1`,
});
