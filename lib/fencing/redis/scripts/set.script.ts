import { CHECK } from './check.script.js';

/**
 * SET, if not stale.
 *
 * KEYS[1], ARGV[1], ARGV[2], ARGV[3]  see check.script.ts
 * KEYS[2]  key to set
 * ARGV[4]  its value
 * ARGV[5]  its ttl in ms, or `''` for none
 * Reply: `{'ok'}`, or as there
 */
export const SET = `${CHECK}
if ARGV[5] == '' then redis.call('SET', KEYS[2], ARGV[4])
else redis.call('SET', KEYS[2], ARGV[4], 'PX', ARGV[5]) end
return {'ok'}
`;
