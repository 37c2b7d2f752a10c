import { leaseScript } from './lease-script.js';
import { LEASE_PATTERN } from './lua-parts.js';

/**
 * Writes that the holder of each lease begins its effect, unless that is done, or a try that nobody ended is in the way and may
 * not be run again. The effect is a hash: `state` (started, done, unusable), `owner` (holderId), `token`, `started`, `about` (tag
 * and holder), and `text`, its result.
 *
 * KEYS for each lease: lease, effect
 * ARGV: none; for each lease: holderId, keep, rerun
 * Reply for each lease: 0 not held | {'started', rerun} | {'known', state, token, started, about, text}
 */
export const startEffectScript = leaseScript({
  name: 'start-effect',
  keys: ['lease', 'effect'],
  shared: [],
  args: ['holderId', 'keep', 'rerun'],
  each: `
  local value = call('GET', lease)
  if not value then return 0 end
  local owner, own, granted, since, state, tag, holder = string.match(value, ${LEASE_PATTERN})
  if owner ~= holderId then return 0 end
  local known = call('HMGET', effect, 'state', 'owner', 'token', 'started', 'about', 'text')
  local crashed = known[1] == 'started' and known[2] ~= holderId
  if known[1] and (known[1] ~= 'started' or (crashed and rerun == '0')) then
    return { 'known', known[1], tonumber(known[3]), tonumber(known[4]), known[5], known[6] or '' }
  end
  local now = string.format('%.0f', math.floor(micros / 1000))
  call('HSET', effect, 'state', 'started', 'owner', holderId, 'token', own, 'started', now, 'about', tag .. ' ' .. holder)
  call('PEXPIRE', effect, keep)
  return { 'started', crashed and 1 or 0 }`,
});
