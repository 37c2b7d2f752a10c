import { createHash } from 'node:crypto';

/** What makes a script: names of its parameters, and the Lua that treats one lease. */
export interface LeaseScriptParts {
  readonly name: string;
  /** KEYS of each lease; local variables of `each`. */
  readonly keys: readonly string[];
  /** ARGV once for the call, numbers; local variables everywhere. */
  readonly shared: readonly string[];
  /** ARGV of each lease, texts; local variables of `each`. */
  readonly args: readonly string[];
  /** Lua functions that `each` uses. */
  readonly helpers?: readonly string[];
  /** Lua body that treats one lease and returns its reply, never nil. */
  readonly each: string;
}

/** A script for any number of leases. Its reply: the server's time in ms, then one reply for each lease, in order. */
export interface LeaseScript extends LeaseScriptParts {
  readonly lua: string;
  readonly sha: string;
}

/** Makes the script: reads the clock once, and calls `each` for one lease after the other. */
export function leaseScript(parts: LeaseScriptParts): LeaseScript {
  const { keys, args, shared } = parts;
  const at = (list: string, stride: number, offset: number): string => `${list}[(i - 1) * ${String(stride)} + ${String(offset)}]`;
  const given = [
    ...keys.map((_, k) => at('KEYS', keys.length, k + 1)),
    ...args.map((_, k) => at('ARGV', args.length, shared.length + k + 1)),
  ];
  const lua = `
local time = redis.call('TIME')
local micros = time[1] * 1000000 + time[2]
local now = math.floor(micros / 1000)
${shared.map((name, k) => `local ${name} = tonumber(ARGV[${String(k + 1)}])`).join('\n')}
${(parts.helpers ?? []).join('\n')}
local function each(${[...keys, ...args].join(', ')})
${parts.each.trim()}
end
local reply = { now }
for i = 1, #KEYS / ${String(keys.length)} do
  reply[i + 1] = each(${given.join(', ')})
end
return reply
`.trim();
  return { ...parts, lua, sha: createHash('sha1').update(lua).digest('hex') };
}
