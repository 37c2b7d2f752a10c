import { CHECK } from './check.script.js';

/**
 * DEL, if not stale. The fence stays, so that a late write cannot bring the key back.
 *
 * KEYS[1], ARGV[1], ARGV[2], ARGV[3]  see check.script.ts
 * KEYS[2]  key to delete
 * Reply: `{'ok', 1 if it was there, else 0}`, or as there
 */
export const DEL = `${CHECK}
return {'ok', redis.call('DEL', KEYS[2])}
`;
