import { CHECK } from './check.script.js';

/**
 * HSET, if not stale.
 *
 * KEYS[1], ARGV[1], ARGV[2], ARGV[3]  see check.script.ts
 * KEYS[2]  the hash
 * ARGV[4], ...  field, value, field, value, ...
 * Reply: `{'ok', number of fields that are new}`, or as there
 */
export const HSET = `${CHECK}
local added = 0
for i = 4, #ARGV, 2 do added = added + redis.call('HSET', KEYS[2], ARGV[i], ARGV[i + 1]) end
return {'ok', added}
`;
