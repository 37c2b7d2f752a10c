/*
 * Lua of the line of waiters. `queue` is a sorted set of waiters by ticket; a member is the process, the holderId, how long an
 * offer to it stands (ms), and the tag. `waiters` is a hash: for each process until when it counts as alive (ms) and how it
 * describes itself; under `!` the process that has an offer; under `?` when a full line may be searched for the dead again. It
 * exists while there may be a line, so that a lease without one costs one EXISTS.
 */

/** A process counts as alive for 10 s after its last word. */
const ALIVE_MS = 10_000;
/** The line of processes that are all dead ends by itself. */
const LIFE_MS = 60_000;

/**
 * Offers a free lease to the first waiter of a live process; waiters of dead ones in front are dropped and their process with
 * them, so that it hears that it was forgotten when it speaks again, and they come back with their tickets. Sets the locals `offered` (its holderId, or nil when nobody waits), and what its
 * reservation says: `own`, `offer` (ms), `tag`, `holder`. `mine` (a holderId) takes its turn without an offer. Sees `previous`.
 */
export const promote = (mine: string): string => `
  local offered, offer, tag, holder
  local millis = math.floor(micros / 1000)
  while true do
    local head = call('ZRANGE', queue, 0, 0)[1]
    if not head then break end
    call('ZREM', queue, head)
    local process, claimant, claim, claimTag = string.match(head, '^(%S+) (%S+) (%d+) (%S*)$')
    local deadline, about = string.match(process and call('HGET', waiters, process) or '', '^(%d+) (.*)$')
    if deadline and tonumber(deadline) > millis then
      offered, offer, tag, holder = claimant, claim, claimTag, about
      if claimant ~= ${mine} then
        local last = previous and string.find(previous, '^%d+$') and previous or '0'
        call('SET', lease, claimant .. ' ' .. last .. ' ' .. claim .. ' ' .. string.format('%.0f', millis) .. ' r ' .. tag .. ' ' .. about, 'PX', claim)
        call('HSET', waiters, '!', process)
        if wake ~= '' then
          try('PUBLISH', wake .. process, claimant)
        else
          -- In a Cluster: stays on this node. Before Redis 7 it is an ordinary notice on the same channel.
          local sent = try('SPUBLISH', lease .. ':wake:' .. process, claimant)
          if type(sent) == 'table' then try('PUBLISH', lease .. ':wake:' .. process, claimant) end
        end
      end
      break
    end
    if process then call('HDEL', waiters, process) end
  end
  if not offered then call('DEL', waiters) end`;

/** What is done when a line may wait for the lease that has ended; see {@link PASS_ON}. */
export const OFFER_NEXT = `
    local previous = own
    ${promote("''").trim()}`;

/** After the end of a lease that had \`own\` as token: offers it to the first of the line, if there is one. */
export const PASS_ON = `
  if call('EXISTS', waiters) == 1 then
    ${OFFER_NEXT.trim()}
  end`;

/** Reads the place in the line that is asked for: `process` (nil for none), `place` (a ticket, or `-`), `claim`, `most`. */
export const READ_PLACE = `
  local process, place, claim, most = string.match(line, '^(%S+) (%S+) (%d+) (%d+)$')`;

/** A full line may be searched for waiters of dead processes this often. */
const SEARCH_EVERY_MS = 1000;

/** Drops the waiters of dead processes from a line that is full, so that they keep nobody out. Sees `now` (ms). */
const DROP_DEAD = `
    local search = call('HGET', waiters, '?')
    if not search or tonumber(search) <= now then
      call('HSET', waiters, '?', string.format('%.0f', now + ${String(SEARCH_EVERY_MS)}))
      local live = {}
      for _, other in ipairs(call('ZRANGE', queue, 0, -1)) do
        local name = string.match(other, '^%S+')
        if live[name] == nil then
          live[name] = (tonumber(string.match(call('HGET', waiters, name) or '', '^%d+')) or 0) > now
          if not live[name] then call('HDEL', waiters, name) end
        end
        if not live[name] then call('ZREM', queue, other) end
      end
    end`;

/**
 * Takes the place, or keeps the one it has; the process counts as alive from now. Sets the local `ticket`, or leaves it nil when the
 * line is too long. Sees `about`, the waiter's own tag and description.
 */
export const ENTER = `
  local ticket
  local waiterTag, description = string.match(about, '^(%S*) (.*)$')
  local member = process .. ' ' .. holderId .. ' ' .. claim .. ' ' .. waiterTag
  ticket = call('ZSCORE', queue, member)
  local now = math.floor(micros / 1000)
  if not ticket and place == '-' and most ~= '0' and call('ZCARD', queue) >= tonumber(most) then
    ${DROP_DEAD.trim()}
  end
  if not ticket and (place ~= '-' or most == '0' or call('ZCARD', queue) < tonumber(most)) then
    ticket = place
    if place == '-' then
      local last = call('ZRANGE', queue, -1, -1, 'WITHSCORES')[2]
      ticket = string.format('%.0f', math.max(last and tonumber(last) + 1 or 0, micros))
    end
    call('ZADD', queue, ticket, member)
  end
  if ticket then
    call('HSET', waiters, process, string.format('%.0f', now + ${String(ALIVE_MS)}) .. ' ' .. description)
    call('PEXPIRE', queue, ${String(LIFE_MS)})
    call('PEXPIRE', waiters, ${String(LIFE_MS)})
  end`;

/** The process says that it is alive; sets the local `known` to what the line knew of it, or false: also when the line itself is gone. */
export const ATTEND = `
  local known = call('EXISTS', queue) == 1 and call('HGET', waiters, process)
  if known then
    local description = string.match(known, '^%d+ (.*)$') or ''
    call('HSET', waiters, process, string.format('%.0f', math.floor(micros / 1000) + ${String(ALIVE_MS)}) .. ' ' .. description)
    call('PEXPIRE', queue, ${String(LIFE_MS)})
    call('PEXPIRE', waiters, ${String(LIFE_MS)})
  end`;
