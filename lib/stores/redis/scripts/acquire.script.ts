import { leaseScript } from './lease-script.js';
import { ENTER, promote, READ_PLACE } from './lua-line.js';
import { EXTEND, grant, keepFence, LEASE_PATTERN, REMAINING } from './lua-parts.js';

/**
 * One try for each lease: to get it, to take or keep a place in its line, or to claim it when it was offered. Asked again by its
 * holder it gives the same token and the full ttl. A try that fails without a place changes nothing, except that a free lease
 * that others wait for is offered to the first of them.
 *
 * KEYS for each lease: lease, fence, queue, waiters
 * ARGV: retention, wake; for each lease: holderId, ttl, floor, about, line
 * Reply for each lease: the token | {'busy', remaining, token, tag, holder} | {'queued', remaining, token, tag, holder, ticket} | {'foreign', 'lease' or 'fence'} | {'floor'} | {'full'}
 */
export const acquireScript = leaseScript({
  name: 'acquire',
  keys: ['lease', 'fence', 'queue', 'waiters'],
  shared: ['retention', 'wake'],
  args: ['holderId', 'ttl', 'floor', 'about', 'line'],
  each: `
  local seen = call('MGET', lease, fence)
  local value, previous = seen[1], seen[2]
  local claimed
  ${READ_PLACE.trim()}
  if value then
    local owner, own, granted, since, state, tag, holder = string.match(value, ${LEASE_PATTERN})
    if not owner then return { 'foreign', 'lease' } end
    if owner ~= holderId then
      ${REMAINING.trim()}
      -- The server's clock went back: without this a dead holder would keep the lease for as long as it was set back.
      if left ~= pttl then call('PEXPIRE', lease, granted) end
      if process then
        ${ENTER.trim()}
        if ticket then return { 'queued', left, tonumber(own), tag, holder, tonumber(ticket) } end
      end
      return { 'busy', left, tonumber(own), tag, holder }
    end
    if state == 'h' then
      local token = own
      ${EXTEND.trim()}
      ${keepFence('longest').trim()}
      return tonumber(own)
    end
    -- It was offered to this one, whose claim may yet be refused: then the offer stands until it is given up.
    claimed = true
  elseif call('EXISTS', waiters) == 1 then
    -- An offer that nobody claimed: its process is dead until it asks, and the lease goes to whoever asks now and waits.
    local silent = call('HGET', waiters, '!')
    if silent then call('HDEL', waiters, '!', silent ~= process and silent or '!') end
    if process and silent then
      call('ZREM', queue, process .. ' ' .. holderId .. ' ' .. claim .. ' ' .. string.match(about, '^%S*'))
    else
      ${promote('holderId').trim()}
      if offered and offered ~= holderId then
        local last = tonumber(previous or '0') or 0
        if process then
          ${ENTER.trim()}
          if ticket then return { 'queued', tonumber(offer), last, tag, holder, tonumber(ticket) } end
        end
        return { 'busy', tonumber(offer), last, tag, holder }
      end
    end
  end
  ${grant("claimed and 'XX' or 'NX'").trim()}
  if claimed then
    if call('EXISTS', queue) == 0 then call('DEL', waiters) else call('HDEL', waiters, '!') end
  end
  return token`,
});
