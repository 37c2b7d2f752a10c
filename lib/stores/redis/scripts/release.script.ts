import { leaseScript } from './lease-script.js';
import { OFFER_NEXT, promote } from './lua-line.js';
import { keepFence, OWNER_PATTERN } from './lua-parts.js';

/**
 * Ends each lease that its holder still has, heals its fence, and offers it to the first of its line; what belongs
 * to somebody else, or is not a lease, stays. Also undoes an acquire, ends a wait and gives up an offer (`token` 0; `member` is
 * the place in the line, or empty).
 *
 * KEYS for each lease: lease, fence, queue, waiters
 * ARGV: retention, wake; for each lease: holderId, token, member
 * Reply for each lease: 1 released | 0 not held
 */
export const releaseScript = leaseScript({
  name: 'release',
  keys: ['lease', 'fence', 'queue', 'waiters'],
  shared: ['retention', 'wake'],
  args: ['holderId', 'token', 'member'],
  lazyClock: true,
  each: `
  if member ~= '' then call('ZREM', queue, member) end
  local seen = call('MGET', lease, fence)
  local value, previous = seen[1], seen[2]
  if not value then
    -- One that leaves a free lease sees to it that the line goes on; an offer that lapsed is for the next that asks.
    if member ~= '' and call('EXISTS', waiters) == 1 and call('HEXISTS', waiters, '!') == 0 then
      clock()
      ${promote("''").trim()}
    end
    return 0
  end
  local own, held, mine = token, true, holderId .. ' ' .. token .. ' '
  -- Nearly always the fence is as the grant or a renewal left it, for long enough: told without taking the value to pieces.
  if previous == token and string.sub(value, 1, #mine) == mine and string.find(value, '^%d+ %d+ h ', #mine + 1) then
    call('DEL', lease)
  else
    local owner, granted, since, state
    owner, own, granted, since, state = string.match(value, ${OWNER_PATTERN})
    if owner ~= holderId then return 0 end
    call('DEL', lease)
    held = state == 'h'
    if held then
      clock()
      ${keepFence('tonumber(granted)').trim()}
    end
  end
  if call('EXISTS', waiters) == 1 then
    clock()
    ${OFFER_NEXT.trim()}
  end
  return held and 1 or 0`,
});
