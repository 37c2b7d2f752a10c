import { leaseScript } from './lease-script.js';
import { EXTEND, GRANT, keepFence, LEASE_PATTERN, REMAINING } from './lua-parts.js';

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
  each: `
  local seen = call('MGET', lease, fence)
  local value, previous = seen[1], seen[2]
  if value then
    local owner, own, granted, since, state, tag, holder = string.match(value, ${LEASE_PATTERN})
    if not owner then return { 'foreign', 'lease' } end
    if owner == holderId then
      local token = own
      ${EXTEND.trim()}
      ${keepFence('longest').trim()}
      return tonumber(own)
    end
    ${REMAINING.trim()}
    -- The server's clock went back: without this a dead holder would keep the lease for as long as it was set back.
    if left ~= pttl then call('PEXPIRE', lease, granted) end
    return { 'busy', left, tonumber(own), tag, holder }
  end
  ${GRANT.trim()}
  return token`,
});
