import { leaseScript } from './lease-script.js';
import { EXTEND, GRANT, keepFence, LEASE_PATTERN, REMAINING } from './lua-parts.js';

/**
 * Asks for the run of each scheduled instant: grant and record are one step. The record is a hash: `last` (the newest instant
 * decided), `schedule`, and of the current run `instant`, `state`, `owner` (holderId), `token`, `started`, `ended`, `missed`,
 * `about` (tag and holder). A run that another one follows moves to the list of runs.
 *
 * KEYS for each lease: lease, fence, record, runs
 * ARGV: retention; for each lease: holderId, ttl, floor, about, instant, schedule, life, purpose, rerun
 * Reply for each lease: {'granted', s, token, previous or 0, rerun} | {'early', s, ms} | {'running', s, remaining, token, tag, holder} | {'missed', s, remaining, token, tag, holder, count} | {'done', s, state, token, about} | {'foreign', 'lease' or 'fence'} | {'floor'} | {'full'}
 * `s` is the schedule of another replica, where it differs, or ''; previous is the newest instant decided before.
 */
export const beginScript = leaseScript({
  name: 'begin',
  keys: ['lease', 'fence', 'record', 'runs'],
  shared: ['retention'],
  args: ['holderId', 'ttl', 'floor', 'about', 'instant', 'schedule', 'life', 'purpose', 'rerun'],
  each: `
  local at, now = tonumber(instant), math.floor(micros / 1000)
  if at > now then return { 'early', '', at - now } end
  local run = call('HMGET', record, 'last', 'instant', 'state', 'owner', 'token', 'started', 'ended', 'missed', 'about', 'schedule')
  local newest, ran, how = tonumber(run[1] or ''), tonumber(run[2] or ''), run[3]
  local other = run[10] and run[10] ~= schedule and run[10] or ''
  local seen = call('MGET', lease, fence)
  local value, previous = seen[1], seen[2]
  local owner, own, granted, since, state, tag, holder
  if value then
    owner, own, granted, since, state, tag, holder = string.match(value, ${LEASE_PATTERN})
    if not owner then return { 'foreign', 'lease' } end
  end

  local crashed = false
  if not (ran == at and how == 'running' and run[4] == holderId) then
    if newest and at < newest then return { 'done', other, 'past', 0, '' } end
    if newest == at and ran ~= at then return { 'done', other, 'missed', 0, '' } end
    if newest == at and how ~= 'unstarted' then
      crashed = how == 'running' and not (owner and owner == run[4])
      if crashed and rerun == '0' then how = 'crashed' end
      if how ~= 'running' then return { 'done', other, how, tonumber(run[5]), run[9] } end
    end
    if not newest and purpose ~= 'due' then
      call('HSET', record, 'last', instant, 'schedule', schedule)
      call('PEXPIRE', record, life)
      return { 'done', other, 'new', 0, '' }
    end
    if purpose == 'look' and at > newest then return { 'done', other, 'skipped', 0, '' } end
    if at < now - tonumber(life) / 2 then return { 'done', other, 'past', 0, '' } end
  end

  if owner and owner == holderId then
    local token = own
    ${EXTEND.trim()}
    ${keepFence('longest').trim()}
    return { 'granted', other, tonumber(own), newest or 0, 0 }
  end
  if owner then
    ${REMAINING.trim()}
    if left ~= pttl then call('PEXPIRE', lease, granted) end
    if newest == at then return { 'running', other, left, tonumber(own), tag, holder } end
    local count = tonumber(run[8] or 0) + 1
    call('HSET', record, 'last', instant, 'schedule', run[10] or schedule, 'missed', count)
    call('PEXPIRE', record, life)
    return { 'missed', other, left, tonumber(own), tag, holder, count }
  end

  local keep = life
  ${GRANT.trim()}
  if run[2] and (crashed or ran ~= at) then
    local ending = how == 'running' and 'crashed' or how
    try('LPUSH', runs, table.concat({ run[2], ending, run[5], run[6], run[7] or '-', run[8] or 0, run[9] }, ' '))
    try('LTRIM', runs, 0, 98)
  end
  try('PEXPIRE', runs, keep)
  call('HSET', record, 'last', instant, 'schedule', schedule, 'instant', instant, 'state', 'running', 'owner', holderId,
    'token', own, 'started', now, 'missed', 0, 'about', about)
  call('HDEL', record, 'ended')
  call('PEXPIRE', record, keep)
  return { 'granted', other, token, newest or 0, crashed and 1 or 0 }`,
});
