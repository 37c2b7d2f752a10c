/**
 * The value of a lease key is one text: holderId, fencing token, granted ttl (ms), since (ms), state (`h` held; `r` reserved
 * and `c` cooldown are kept free for waiters and cron), tag, and last the holder's description, which may contain anything.
 * `read(value)` gives them, or nothing for a value that is not ours.
 */
export const READ_LEASE = `
local function read(value)
  return string.match(value, '^(%S*) (%d+) (%d+) (%d+) (%l) (%S*) (.*)$')
end`;

/**
 * `write(...)` is the opposite of `read`, with numbers as numbers; `about` is tag, space, description. Only numbers go through
 * string.format: its %s ends at a zero byte.
 */
export const WRITE_LEASE = `
local function write(holderId, token, ttl, since, about)
  return holderId .. string.format(' %.0f %.0f %.0f h ', token, ttl, since) .. about
end`;

/** `remaining(lease, granted)`: milliseconds left, never above what was granted, though the server's clock may have gone back. */
export const REMAINING = `
local function remaining(lease, granted)
  local left = redis.call('PTTL', lease)
  if left < 0 or left > granted then return granted, true end
  return left, false
end`;

/**
 * `extend(...)` gives a lease that its holder still has the full ttl again: never less than it has, and the longer ttl is
 * written down. PEXPIRE comes first, since under maxmemory a SET is refused unless the script has written before. Returns the
 * ttl that is written down.
 */
export const EXTEND = `
local function extend(lease, holderId, token, granted, since, about, ttl)
  if ttl < remaining(lease, granted) then return granted end
  redis.call('PEXPIRE', lease, ttl)
  if ttl <= granted then return granted end
  redis.pcall('SET', lease, write(holderId, token, ttl, since, about), 'PX', ttl)
  return ttl
end`;

/** `fenceLife(token, ttl)`: how long (ms) the last token is remembered: until the clock has passed it for certain. */
export const FENCE_LIFE = `
local function fenceLife(token, ttl)
  return math.max(retention + math.max(0, math.ceil(token / 1000) - now), 2 * ttl)
end`;

/** `asNumber(fence)`: the token in a fence key, or nil for what cannot be one: no number, or too near 2^53 to count on. */
export const FENCE_NUMBER = `
local function asNumber(fence)
  local number = #fence <= 16 and string.match(fence, '^%d+$') and tonumber(fence)
  return number and number < 9007199254740990 and number or nil
end`;

/**
 * `keepFence(fence, previous, token, ttl)`: heals a fence that is missing or lower, and starts its time again. By pcall, since
 * what was done to the lease must stand; NX and asNumber, since what is not a fence is not ours to touch.
 */
export const KEEP_FENCE = `
local function keepFence(fence, previous, token, ttl)
  if not previous then
    redis.pcall('SET', fence, string.format('%.0f', token), 'PX', fenceLife(token, ttl), 'NX')
    return
  end
  local number = asNumber(previous)
  if not number then return end
  if number < token then
    redis.pcall('SET', fence, string.format('%.0f', token), 'PX', fenceLife(token, ttl))
  else
    redis.pcall('PEXPIRE', fence, fenceLife(number, ttl))
  end
end`;

/** `highest(token, asked)`: the token to heal the fence to; one more than a day ahead of the clock would poison the key. */
export const HIGHEST = `
local function highest(token, asked)
  if asked > token and asked <= micros + 86400000000 then return asked end
  return token
end`;
