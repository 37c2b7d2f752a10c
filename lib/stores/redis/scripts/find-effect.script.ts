import { leaseScript } from './lease-script.js';

/**
 * What is known of each effect; writes nothing.
 *
 * KEYS for each lease: effect
 * ARGV: none
 * Reply for each lease: 0 unknown | {'known', state, token, started, about, text}
 */
export const findEffectScript = leaseScript({
  name: 'find-effect',
  keys: ['effect'],
  shared: [],
  args: [],
  each: `
  local known = call('HMGET', effect, 'state', 'token', 'started', 'about', 'text')
  if not known[1] then return 0 end
  return { 'known', known[1], tonumber(known[2]), tonumber(known[3]), known[4], known[5] or '' }`,
});
