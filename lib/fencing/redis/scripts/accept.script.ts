import { CHECK } from './check.script.js';

/**
 * The check alone.
 *
 * KEYS[1], ARGV[1], ARGV[2], ARGV[3]  see check.script.ts
 * Reply: `{'ok'}`, or as there
 */
export const ACCEPT = `${CHECK}
return {'ok'}
`;
