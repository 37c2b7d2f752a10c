/*
 * Lua that several scripts share, as text and not as functions: Redis makes the functions of a script anew at every call, which
 * measured a quarter of the time of an acquire. Numbers are given to commands as texts for the same reason.
 *
 * The value of a lease key is one text: holderId, fencing token, granted ttl (ms), since (ms), state (`h` held; `r` offered
 * to a waiter, whose token is yet to come; `c` cooldown), tag, and last the holder's description, which may contain anything.
 */

/** Reads a whole value: holderId, token, ttl, since, state, tag, description; nothing for a value that is not ours. */
export const LEASE_PATTERN = `'^(%S*) (%d+) (%d+) (%d+) (%l) (%S*) (.*)$'`;

/** Reads the beginning of a value: holderId, token, ttl, since, state. */
export const OWNER_PATTERN = `'^(%S*) (%d+) (%d+) (%d+) (%l) '`;

/** The highest token there is: at 2^53 adding one changes nothing. */
export const HIGHEST_TOKEN = '9007199254740990';

/** A token further ahead of the server's clock than this many microseconds (a day) would poison the key. */
export const MOST_AHEAD = '86400000000';

/**
 * Reads the lease and its fence; returns from the script where there is no lease, or something else. Sets the locals of
 * LEASE_PATTERN and `previous`, what the fence says.
 */
export const READ_LEASE = `
  local seen = call('MGET', lease, fence)
  local value, previous = seen[1], seen[2]
  if not value then
    if call('EXISTS', lease) == 1 then return { 'foreign', 'lease' } end
    return 0
  end
  local owner, own, granted, since, state, tag, holder = string.match(value, ${LEASE_PATTERN})
  if not owner then return { 'foreign', 'lease' } end`;

/** A token as a text; `tostring` would lose digits. */
export const text = (number: string): string => `string.format('%.0f', ${number})`;

/** The token in a fence key, or false for what cannot be one: no number, or too near 2^53. */
export const fenceNumber = (fence: string): string =>
  `(#${fence} <= 16 and string.find(${fence}, '^%d+$') and tonumber(${fence}) < ${HIGHEST_TOKEN} and tonumber(${fence}))`;

/** A grant or a renewal gives the fence so much more than its retention: then the end of a lease need not touch it. */
export const SPARE_MS = 3_600_000;

/** The argument `retention` of scripts: how long (ms) a fence lives after a grant or renewal, for ttls up to the spare time. */
export const withSpare = (fenceRetentionMs: number): number => fenceRetentionMs + Math.min(fenceRetentionMs, SPARE_MS);

/**
 * Sets the local `life`: how long (ms, text) the last token is remembered: for its retention after the lease has ended, and until
 * the clock has passed it for certain, and long enough for any late renewal.
 */
export const fenceLife = (token: string, ttl: string): string => `
  local life = retention
  if ${token} > micros or ${ttl} > ${String(SPARE_MS)} or 2 * ${ttl} > tonumber(retention) then
    life = ${text(`tonumber(retention) + ${ttl} + math.max(0, math.ceil((${token} - micros) / 1000))`)}
  end`;

/** Sets the local `left`: milliseconds to go, never above what was granted, though the server's clock may have gone back. */
export const REMAINING = `
  local pttl = call('PTTL', lease)
  local left = pttl < 0 and tonumber(granted) or math.min(pttl, tonumber(granted))`;

/**
 * Gives a lease that its holder still has the full `ttl` again: never less than it has, and a longer ttl is written down.
 * PEXPIRE comes first, since under maxmemory a SET is refused unless the script has written before. Sets the local `longest`,
 * the ttl that stands. Sees the locals of LEASE_PATTERN.
 */
export const EXTEND = `${REMAINING}
  local longest = tonumber(granted)
  if tonumber(ttl) >= left then
    call('PEXPIRE', lease, ttl)
    if tonumber(ttl) > longest then
      longest = tonumber(ttl)
      try('SET', lease, holderId .. ' ' .. own .. ' ' .. ttl .. ' ' .. since .. ' ' .. state .. ' ' .. tag .. ' ' .. holder, 'PX', ttl)
    end
  end`;

/**
 * Heals a fence that is missing or lower, and starts its time again; `own` (text) is the lease's token, `previous` what the fence
 * said, `ttl` a number. By pcall, since what was done to the lease must stand; NX and the check of the number, since what is not
 * a fence is not ours to touch.
 */
export const keepFence = (ttl: string): string => `
  local top = tonumber(own)
  if token ~= own and tonumber(token) > top and tonumber(token) <= micros + ${MOST_AHEAD} then top = tonumber(token) end
  local last = previous and (previous == own and tonumber(own) or ${fenceNumber('previous')})
  local highest = last and last > top and last or top
  ${fenceLife('highest', ttl).trim()}
  if not previous then
    try('SET', fence, ${text('top')}, 'PX', life, 'NX')
  elseif last and last < top then
    try('SET', fence, ${text('top')}, 'PX', life)
  elseif last then
    try('PEXPIRE', fence, life)
  end`;

/**
 * Takes a lease for `holderId` and raises its fence, which said `previous`; returns from the script, with nothing written,
 * where that cannot be. Sets the locals `token` (number) and `own` (the same as a text). Sees `ttl`, `floor` and `about`. `when`
 * (Lua): `'NX'` takes a free lease; MGET shows nothing where another type of value lies, and it keeps from overwriting that.
 */
export const grant = (when: string): string => `
  local last = 0
  if previous then
    last = ${fenceNumber('previous')}
    if not last then return { 'foreign', 'fence' } end
  end
  local lowest = tonumber(floor)
  if lowest > last and lowest > micros + ${MOST_AHEAD} then return { 'floor' } end
  local token = math.max(last + 1, micros, lowest + 1)
  if token > ${HIGHEST_TOKEN} then return { 'full' } end
  -- As Redis gives the time: to make texts of numbers would cost more than to write the lease.
  local now = time[1] .. string.sub('00000' .. time[2], -6)
  local own = token == micros and now or ${text('token')}
  now = string.sub(now, 1, -4)
  if not call('SET', lease, holderId .. ' ' .. own .. ' ' .. ttl .. ' ' .. now .. ' h ' .. about, 'PX', ttl, ${when}) then
    return { 'foreign', 'lease' }
  end
  ${fenceLife('token', 'tonumber(ttl)').trim()}
  if previous then
    call('SET', fence, own, 'PX', life)
  elseif not call('SET', fence, own, 'PX', life, 'NX') then
    call('DEL', lease)
    return { 'foreign', 'fence' }
  end`;

/** Takes a free lease: see {@link grant}. */
export const GRANT = grant("'NX'");
