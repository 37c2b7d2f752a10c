import { CHECK } from './check.script.js';

/**
 * A script of the user, if not stale; it sees its own KEYS and ARGV.
 *
 * KEYS[1], ARGV[1], ARGV[2], ARGV[3]  see check.script.ts
 * KEYS[2], ...  its KEYS
 * ARGV[4], ...  its ARGV
 * Reply: `{'ok', what it returns}` or the error it returns, or as there
 */
export const run = (script: string): string => `${CHECK}
local function body(KEYS, ARGV)
${script}
end
local keys, argv = {}, {}
for i = 2, #KEYS do keys[i - 1] = KEYS[i] end
for i = 4, #ARGV do argv[i - 3] = ARGV[i] end
local result = body(keys, argv)
if type(result) == 'table' and result.err then return result end
return {'ok', result}
`;
