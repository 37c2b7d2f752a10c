import { leaseScript } from './lease-script.js';
import { EXTEND, fenceNumber, keepFence, MOST_AHEAD, READ_LEASE } from './lua-parts.js';
import { RUN_AND_UPTIME } from './lua-quorum.js';

/**
 * For a node of a quorum: each lease that its holder still has, and that was granted with a token not above this one, is known by
 * this one from now on, lives for the ttl at least (0: as long as it does), and its fence is raised. With `strict` the fence must
 * be raised, or the answer is an error; without, it is healed as far as it can be, as `renew` does. With `memory` the answer tells
 * which run of the server this is and how long it has been up, in seconds, or -1 when the server refuses INFO.
 *
 * KEYS for each lease: lease, fence
 * ARGV: retention, strict, memory; for each lease: holderId, ttl, token
 * Reply for each lease: 1 held | {'held', run, uptime} | 0 gone | {'taken', token} | {'ahead', token} | {'foreign', 'lease' or 'fence'} | {'floor'} | {'unraised'}
 */
export const confirmScript = leaseScript({
  name: 'confirm',
  keys: ['lease', 'fence'],
  shared: ['retention', 'strict', 'memory'],
  args: ['holderId', 'ttl', 'token'],
  each: `
  ${READ_LEASE.trim()}
  if owner ~= holderId or state ~= 'h' then return { 'taken', tonumber(own) } end
  if tonumber(own) > tonumber(token) then return { 'ahead', tonumber(own) } end
  local plausible = own == token or tonumber(token) <= micros + ${MOST_AHEAD}
  if strict == '1' then
    if previous and not ${fenceNumber('previous')} then return { 'foreign', 'fence' } end
    if not plausible then return { 'floor' } end
  end
  ${EXTEND.trim()}
  -- Under maxmemory a SET is refused unless the script has written before; PEXPIRE never is.
  if tonumber(ttl) < left then call('PEXPIRE', lease, left) end
  if plausible and own ~= token then
    local rest = math.max(left, tonumber(ttl))
    call('SET', lease, owner .. ' ' .. token .. ' ' .. string.format('%.0f', longest) .. ' ' .. since .. ' h ' .. tag .. ' ' .. holder, 'PX', rest)
    own = token
  end
  ${keepFence('longest').trim()}
  if strict == '1' and (tonumber(try('GET', fence)) or 0) < tonumber(token) then return { 'unraised' } end
  if memory == '0' then return 1 end
  -- Asked once for all leases of the call.
  if memory == '1' then
    ${RUN_AND_UPTIME.trim()}
    memory = { run, uptime }
  end
  return { 'held', memory[1], memory[2] }`,
});
