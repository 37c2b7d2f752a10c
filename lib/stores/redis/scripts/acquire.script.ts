import { leaseScript } from './lease-script.js';
import { EXTEND, FENCE_LIFE, FENCE_NUMBER, KEEP_FENCE, READ_LEASE, REMAINING, WRITE_LEASE } from './lua-helpers.js';

/**
 * One try for each lease. Asked again by its holder it gives the same token and the full ttl; a try that fails writes nothing.
 *
 * KEYS for each lease: lease, fence
 * ARGV: retention; for each lease: holderId, ttl, floor, about
 * Reply for each lease: the token | {'busy', remaining, token, tag, holder} | {'foreign', 'lease' or 'fence'} | {'floor'} | {'full'}
 */
export const acquireScript = leaseScript({
  name: 'acquire',
  keys: ['lease', 'fence'],
  shared: ['retention'],
  args: ['holderId', 'ttl', 'floor', 'about'],
  helpers: [READ_LEASE, WRITE_LEASE, REMAINING, EXTEND, FENCE_LIFE, FENCE_NUMBER, KEEP_FENCE],
  each: `
  ttl, floor = tonumber(ttl), tonumber(floor)
  local seen = redis.call('MGET', lease, fence)
  local previous = seen[2]
  if seen[1] then
    local owner, token, granted, since, _, tag, holder = read(seen[1])
    if not owner then return { 'foreign', 'lease' } end
    token, granted = tonumber(token), tonumber(granted)
    if owner == holderId then
      keepFence(fence, previous, token, extend(lease, holderId, token, granted, since, about, ttl))
      return token
    end
    local left, odd = remaining(lease, granted)
    -- The server's clock went back: without this a dead holder would keep the lease for as long as it was set back.
    if odd then redis.call('PEXPIRE', lease, granted) end
    return { 'busy', left, token, tag, holder }
  end
  local last = 0
  if previous then
    last = asNumber(previous)
    if not last then return { 'foreign', 'fence' } end
  end
  if floor > math.max(last, micros + 86400000000) then return { 'floor' } end
  local token = math.max(last + 1, micros, floor + 1)
  if token > 9007199254740990 then return { 'full' } end
  -- MGET shows nothing where another type of value lies: NX keeps from overwriting it.
  if not redis.call('SET', lease, write(holderId, token, ttl, now, about), 'PX', ttl, 'NX') then return { 'foreign', 'lease' } end
  local life, text = fenceLife(token, ttl), string.format('%.0f', token)
  if previous then
    redis.call('SET', fence, text, 'PX', life)
  elseif not redis.call('SET', fence, text, 'PX', life, 'NX') then
    redis.call('DEL', lease)
    return { 'foreign', 'fence' }
  end
  return token`,
});
