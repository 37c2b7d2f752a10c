import { leaseScript } from './lease-script.js';
import { ATTEND } from './lua-line.js';
import { LEASE_PATTERN } from './lua-parts.js';

/**
 * A process says for each lease that it still waits, and learns what it may have missed.
 *
 * KEYS for each lease: lease, queue, waiters
 * ARGV: none; for each lease: process
 * Reply for each lease: {1 kept or 0 forgotten, remaining, holderId of the waiter with an offer, or ''}
 */
export const attendScript = leaseScript({
  name: 'attend',
  keys: ['lease', 'queue', 'waiters'],
  shared: [],
  args: ['process'],
  each: `
  ${ATTEND.trim()}
  local pttl = call('PTTL', lease)
  local offered = ''
  if call('HGET', waiters, '!') == process then
    local owner, _, _, _, state = string.match(call('GET', lease) or '', ${LEASE_PATTERN})
    if state == 'r' then offered = owner end
  end
  return { known and 1 or 0, math.max(pttl, 0), offered }`,
});
