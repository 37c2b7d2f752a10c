import { createHash } from 'node:crypto';

/** What makes a script: names of its parameters, and the Lua that treats one lease. */
export interface LeaseScriptParts {
  readonly name: string;
  /** KEYS of each lease; local variables of `each`. */
  readonly keys: readonly string[];
  /** ARGV once for the call; local variables of `each`, as texts. */
  readonly shared: readonly string[];
  /** ARGV of each lease; local variables of `each`, as texts. */
  readonly args: readonly string[];
  /**
   * Lua body that treats one lease and returns its reply, never nil. It also sees `call`, `try` (pcall), `micros`, the server's
   * time, and `time`, the same as Redis gives it.
   */
  readonly each: string;
  /** The clock is read when `each` calls `clock()`, and not before, so that a call that needs none does not pay for it. */
  readonly lazyClock?: true;
}

const CLOCK = `
local time = call('TIME')
local micros = time[1] * 1000000 + time[2]`.trim();

const LAZY_CLOCK = `
local micros
local function clock()
  local time = micros or call('TIME')
  micros = micros or time[1] * 1000000 + time[2]
end`.trim();

/** A script for any number of leases. Its reply: the server's time in ms (0 with a lazy clock), then one reply for each lease, in order. */
export interface LeaseScript extends LeaseScriptParts {
  readonly lua: string;
  readonly sha: string;
}

/** Makes the script: reads the clock once, and calls `each` for one lease after the other. */
export function leaseScript(parts: LeaseScriptParts): LeaseScript {
  return withLoop(
    parts,
    (given, stride) => `
for i = 1, #KEYS / ${String(stride)} do
  reply[i + 1] = each(${given})
end`,
  );
}

/**
 * The same script for the first lease that it can grant (the reply is a token): those behind it are not looked at. One that the
 * holder has already comes before all others. `holderId` is the first of ARGV for each lease, and the same for all.
 */
export function firstOf(script: LeaseScriptParts, name: string): LeaseScript {
  const holderId = `ARGV[${String(script.shared.length + 1)}]`;
  return withLoop(
    { ...script, name },
    (given, stride) => `
local leases, first, last = {}, 1, #KEYS / ${String(stride)}
for i = 1, last do
  leases[i], reply[i + 1] = KEYS[(i - 1) * ${String(stride)} + 1], 0
end
for i, value in ipairs(call('MGET', unpack(leases))) do
  if value and string.match(value, '^%S*') == ${holderId} then first, last = i, i end
end
for i = first, last do
  reply[i + 1] = each(${given})
  if type(reply[i + 1]) == 'number' then break end
end`,
  );
}

function withLoop(parts: LeaseScriptParts, loop: (given: string, stride: number) => string): LeaseScript {
  const { keys, args, shared, lazyClock } = parts;
  const at = (list: string, stride: number, offset: number): string => `${list}[(i - 1) * ${String(stride)} + ${String(offset)}]`;
  const given = [
    ...keys.map((_, k) => at('KEYS', keys.length, k + 1)),
    ...args.map((_, k) => at('ARGV', args.length, shared.length + k + 1)),
  ];
  const lua = `
local call, try = redis.call, redis.pcall
${lazyClock ? LAZY_CLOCK : CLOCK}
${shared.map((name, k) => `local ${name} = ARGV[${String(k + 1)}]`).join('\n')}
local function each(${[...keys, ...args].join(', ')})
${parts.each.trim()}
end
local reply = { ${lazyClock ? '0' : 'math.floor(micros / 1000)'} }
${loop(given.join(', '), keys.length).trim()}
return reply
`.trim();
  return { ...parts, lua, sha: createHash('sha1').update(lua).digest('hex') };
}
