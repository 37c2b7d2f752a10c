import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const escape = (text) => String(text).replace(/[&<>]/g, (sign) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;' })[sign]);

/** Bars on a logarithmic scale: how long a free lease lies idle until one that waits has it. */
function chart(lines) {
  const bars = lines.filter(({ handOverMs }) => handOverMs !== undefined).sort((a, b) => a.handOverMs - b.handOverMs);
  const width = (ms) => Math.max(4, (Math.log10(ms / 0.1) / 4) * 420);
  const rows = bars.map(({ what, handOverMs }, i) => {
    const y = 44 + i * 26;
    return `<text x="220" y="${y + 13}" text-anchor="end">${escape(what)}</text><rect x="230" y="${y}" width="${width(handOverMs).toFixed(1)}" height="17" fill="${what === 'nestjs-lease' ? '#2f6fde' : '#b6bcc6'}"/><text x="${(238 + width(handOverMs)).toFixed(1)}" y="${y + 13}">${handOverMs.toFixed(handOverMs < 10 ? 2 : 0)} ms</text>`;
  });
  const height = 60 + bars.length * 26;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="760" height="${height}" font-family="sans-serif" font-size="12"><rect width="760" height="${height}" fill="#fff"/><text x="10" y="24" font-size="14">Hand-over to one waiter, median in ms (logarithmic, shorter is better)</text>${rows.join('')}</svg>\n`;
}

const file = join(import.meta.dirname, 'RESULTS.md');

/** The sections that RESULTS.md has, by name, and what stands before them. */
function sectionsNow() {
  const [head, ...sections] = existsSync(file) ? readFileSync(file, 'utf8').split(/^## /m) : [''];
  return { head, sections: new Map(sections.map((text) => [text.slice(0, text.indexOf('\n')), text.trim()])) };
}

function sectionOf(name, results, about) {
  const lines = results.filter(({ row }) => row === name);
  const out = [name, '', `${lines[0].title}.`, ...(about ? ['', about] : []), '', '| | value | target | | |', '|---|---|---|---|---|'];
  for (const { what, value, target, met, detail } of lines) {
    const verdict = target === undefined ? '' : met ? 'met' : '**missed**';
    out.push(`| ${what} | ${value} | ${target ?? ''} | ${verdict} | ${detail ?? ''} |`);
  }
  if (name === 'peers') out.push('', '![Hand-over to one waiter](RESULTS.svg)');
  if (lines[0].remark) out.push('', lines[0].remark);
  return out.join('\n');
}

/** Writes RESULTS.md and its chart next to this file; sections of rows that were not run stay as they are. `partial`: some rows only. */
export function writeReport(results, about, partial = false) {
  const { head, sections } = sectionsNow();
  for (const name of new Set(results.map(({ row }) => row))) {
    sections.set(name, sectionOf(name, results, partial ? about : ''));
  }
  const peers = results.filter(({ row }) => row === 'peers');
  if (peers.length > 0) writeFileSync(join(import.meta.dirname, 'RESULTS.svg'), chart(peers));
  const start = partial && head ? head.trim() : `# Results of \`npm run bench\`\n\n${about}`;
  writeFileSync(file, `${[start, ...[...sections.values()].map((text) => `## ${text}`)].join('\n\n')}\n`);
}
