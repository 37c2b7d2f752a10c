import { leaseScript } from './lease-script.js';
import { READ_LEASE, REMAINING } from './lua-helpers.js';

/**
 * What is known of each lease; writes nothing.
 *
 * KEYS for each lease: lease
 * ARGV: none
 * Reply for each lease: 0 free | {'record', remaining, token, tag, since, state, holder} | {'foreign', 'lease'}
 */
export const inspectScript = leaseScript({
  name: 'inspect',
  keys: ['lease'],
  shared: [],
  args: [],
  helpers: [READ_LEASE, REMAINING],
  each: `
  local value = redis.pcall('GET', lease)
  if not value then return 0 end
  if type(value) == 'table' then return { 'foreign', 'lease' } end
  local owner, token, granted, since, state, tag, holder = read(value)
  if not owner then return { 'foreign', 'lease' } end
  return { 'record', (remaining(lease, tonumber(granted))), tonumber(token), tag, tonumber(since), state, holder }`,
});
