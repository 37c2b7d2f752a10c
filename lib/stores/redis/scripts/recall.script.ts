import { leaseScript } from './lease-script.js';
import { fenceNumber } from './lua-parts.js';
import { RUN_AND_UPTIME } from './lua-quorum.js';

/**
 * For a node of a quorum: the highest token that is remembered of each lease, 0 for none; writes nothing. With `memory` the answer
 * also tells which run of the server this is and how long it has been up, in seconds, or -1 when the server refuses INFO.
 *
 * KEYS for each lease: fence
 * ARGV: memory
 * Reply for each lease: {'fence', token, run, uptime} | {'foreign', 'fence'}
 */
export const recallScript = leaseScript({
  name: 'recall',
  keys: ['fence'],
  shared: ['memory'],
  args: [],
  each: `
  local previous = try('GET', fence)
  local last = 0
  if previous then
    last = type(previous) == 'string' and ${fenceNumber('previous')}
    if not last then return { 'foreign', 'fence' } end
  end
  if memory == '0' then return { 'fence', last } end
  ${RUN_AND_UPTIME.trim()}
  return { 'fence', last, run, uptime }`,
});
