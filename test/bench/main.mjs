import { writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { parseArgs } from 'node:util';
import { writeReport } from './report.mjs';
import { startRedis } from './server.mjs';

setFlagsFromString('--expose_gc');
globalThis.gc ??= runInNewContext('gc');
const { rows } = await import('./rows.mjs');

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true },
    json: { type: 'string' },
    rounds: { type: 'string', default: '7' },
    peers: { type: 'boolean', default: false },
    report: { type: 'boolean', default: false },
  },
});
const chosen = rows.filter(({ name, optional }) => values.only?.includes(name) ?? (!optional || values.peers));
if (chosen.length === 0) {
  console.error(`There is no row ${values.only}. The rows are: ${rows.map(({ name }) => name).join(', ')}.`);
  process.exit(2);
}

const redis = await startRedis();
const results = [];
const about = `Node ${process.version}, ${cpus().length} cores, ${values.rounds} interleaved rounds, medians`;
const loadNow = () =>
  loadavg()
    .map((one) => one.toFixed(1))
    .join(' ');
const load = loadNow();
console.log(`${about}\n`);
for (const row of chosen) {
  console.log(`${row.name}: ${row.title}`);
  for (const line of await row.run({ redis, rounds: Number(values.rounds) })) {
    const verdict = line.target === undefined ? '' : `  ${line.target.padEnd(8)} ${line.met ? 'met' : 'MISSED'}`;
    console.log(`  ${line.what.padEnd(34)} ${String(line.value).padStart(10)}${verdict}${line.detail ? `  (${line.detail})` : ''}`);
    results.push({ row: row.name, title: row.title, remark: row.remark, ...line });
  }
}
await redis.stop();
if (values.report) writeReport(results, `${about}, load before ${load}, after ${loadNow()}.`, Boolean(values.only));
if (values.json)
  writeFileSync(values.json, `${JSON.stringify({ node: process.version, rounds: Number(values.rounds), results }, undefined, 2)}\n`);
process.exit(0);
