import { describe, expect, it } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { acquireFirstScript } from '../../../../lib/stores/redis/scripts/acquire-first.script.js';
import { acquireScript } from '../../../../lib/stores/redis/scripts/acquire.script.js';
import { attendScript } from '../../../../lib/stores/redis/scripts/attend.script.js';
import { beginScript } from '../../../../lib/stores/redis/scripts/begin.script.js';
import { confirmScript } from '../../../../lib/stores/redis/scripts/confirm.script.js';
import { coolDownScript } from '../../../../lib/stores/redis/scripts/cool-down.script.js';
import { findEffectScript } from '../../../../lib/stores/redis/scripts/find-effect.script.js';
import { finishScript } from '../../../../lib/stores/redis/scripts/finish.script.js';
import { forceReleaseScript } from '../../../../lib/stores/redis/scripts/force-release.script.js';
import { historyScript } from '../../../../lib/stores/redis/scripts/history.script.js';
import { inspectScript } from '../../../../lib/stores/redis/scripts/inspect.script.js';
import type { LeaseScript } from '../../../../lib/stores/redis/scripts/lease-script.js';
import { recallScript } from '../../../../lib/stores/redis/scripts/recall.script.js';
import { releaseScript } from '../../../../lib/stores/redis/scripts/release.script.js';
import { renewScript } from '../../../../lib/stores/redis/scripts/renew.script.js';
import { settleEffectScript } from '../../../../lib/stores/redis/scripts/settle-effect.script.js';
import { startEffectScript } from '../../../../lib/stores/redis/scripts/start-effect.script.js';

const folder = join(process.cwd(), 'lib/stores/redis/scripts');
const scripts: readonly LeaseScript[] = [
  acquireScript,
  attendScript,
  renewScript,
  releaseScript,
  inspectScript,
  forceReleaseScript,
  beginScript,
  finishScript,
  historyScript,
  startEffectScript,
  settleEffectScript,
  findEffectScript,
  acquireFirstScript,
  coolDownScript,
  confirmScript,
  recallScript,
];

/** What the header above a script says of its parameters and of its replies. */
function header(name: string): { keys: string; argv: string; tags: string[] } {
  const text = readFileSync(join(folder, `${name}.script.ts`), 'utf8');
  const line = (label: string): string => new RegExp(`^ \\* ${label}: (.*)$`, 'm').exec(text)?.[1] ?? `no line "${label}"`;
  const tags = [...line('Reply for each lease').matchAll(/\{'(\w+)'/g)].map((match) => match[1] as string);
  return { keys: line('KEYS for each lease'), argv: line('ARGV'), tags };
}

function expectedArgv({ shared, args }: LeaseScript): string {
  const once = shared.length > 0 ? shared.join(', ') : 'none';
  return args.length > 0 ? `${once}; for each lease: ${args.join(', ')}` : once;
}

describe('scripts', () => {
  it('are all looked at here', () => {
    const files = readdirSync(folder).filter((file) => file.endsWith('.script.ts'));
    expect(files.sort()).toEqual(scripts.map(({ name }) => `${name}.script.ts`).sort());
  });

  it.each(scripts.map((script) => [script.name, script] as const))('%s: the header says what the code does', (name, script) => {
    const { keys, argv, tags } = header(name);
    expect(keys).toBe(script.keys.join(', '));
    expect(argv).toBe(expectedArgv(script));
    const replied = new Set([...script.each.matchAll(/(?:return|reply =) \{ '(\w+)'/g)].map((match) => match[1]));
    expect([...replied].sort()).toEqual(tags.sort());
  });

  it.each(scripts.map((script) => [script.name, script] as const))(
    '%s: uses every parameter, and KEYS and ARGV only through them',
    (_, script) => {
      for (const parameter of [...script.keys, ...script.shared, ...script.args]) {
        expect(script.each).toMatch(new RegExp(`\\b${parameter}\\b`));
      }
      expect(script.each).not.toMatch(/\b(KEYS|ARGV)\b/);
    },
  );

  it.each(scripts.map((script) => [script.name, script] as const))(
    '%s: never sets a key without an end, and reads the clock once',
    (_, script) => {
      for (const set of script.lua.match(/'SET',.*/g) ?? []) expect(set).toMatch(/'PX', (ttl|life|rest|claim)/);
      expect(script.lua.match(/'TIME'/g)).toHaveLength(1);
    },
  );

  it('all differ', () => {
    expect(new Set(scripts.map(({ sha }) => sha)).size).toBe(scripts.length);
  });
});
