import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export const root = join(import.meta.dirname, '../../..');

/** A fenced block of the README. What is done with it stands in the comment before it: `<!-- example: name -->`. */
export interface Block {
  readonly language: string;
  /** `example` (run as a module), `sql`, `curl` (run against the sample) or `command`; `none` where the comment is missing. */
  readonly kind: string;
  readonly name: string;
  /** Line of the README on which its text begins. */
  readonly line: number;
  readonly text: string;
}

/** Every fenced block of the README, in order. */
export function readmeBlocks(text: string = readFileSync(join(root, 'README.md'), 'utf8')): Block[] {
  const blocks: Block[] = [];
  const lines = text.split('\n');
  for (let at = 0; at < lines.length; at++) {
    const language = /^\s*(?:```|~~~)\s*(\S*)/.exec(lines[at] ?? '')?.[1];
    if (language === undefined) continue;
    const end = lines.findIndex((line, index) => index > at && /^\s*(```|~~~)\s*$/.test(line));
    const [, kind = 'none', name = ''] = /^<!-- (\w+): ([\w-]+) -->$/.exec(lines[at - 1] ?? '') ?? [];
    blocks.push({ language, kind, name, line: at + 2, text: lines.slice(at + 1, end).join('\n') });
    at = end;
  }
  return blocks;
}
