import { leaseScript } from './lease-script.js';
import { LEASE_PATTERN } from './lua-parts.js';

/**
 * Writes how the effect of each lease ended, or forgets it (`undone`), while its holder still holds the lease and the try is its own.
 *
 * KEYS for each lease: lease, effect
 * ARGV: none; for each lease: holderId, outcome, text, keep
 * Reply for each lease: 1 settled | 0 not held
 */
export const settleEffectScript = leaseScript({
  name: 'settle-effect',
  keys: ['lease', 'effect'],
  shared: [],
  args: ['holderId', 'outcome', 'text', 'keep'],
  each: `
  local value = call('GET', lease)
  if not value then return 0 end
  local owner, own, granted, since, state, tag, holder = string.match(value, ${LEASE_PATTERN})
  if owner ~= holderId then return 0 end
  local begun = call('HGET', effect, 'owner')
  if begun and begun ~= holderId then return 0 end
  if outcome == 'undone' then
    call('DEL', effect)
    return 1
  end
  -- All of it: what was written at the beginning may have ended by itself since.
  call('HSET', effect, 'state', outcome, 'owner', holderId, 'token', own, 'about', tag .. ' ' .. holder, 'text', text)
  call('HSETNX', effect, 'started', since)
  call('PEXPIRE', effect, keep)
  return 1`,
});
