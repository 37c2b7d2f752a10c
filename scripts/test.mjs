import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runNode } from './run.mjs';

/** Runs Jest and ends with the line `N passed, N failed, N skipped`. Arguments go to Jest: `npm test -- --selectProjects unit -t busy`. */
const args = process.argv.slice(2);
/** One after another: the last two start many processes and measure time, and the first should fail early. */
const stages = [['architecture', 'unit', 'contract'], ['integration', 'e2e'], ['chaos']];
const ownChoice = args.some((arg) => /^--(selectProjects|config|projects)\b/.test(arg));
/** How long a test may take on a machine that does much else: a bound for what hangs, not a measure of what is tested. */
const PATIENCE = '--testTimeout=30000';
/** No stage takes half of it: a run that hangs ends, and fails. */
const LONGEST_STAGE_MS = 15 * 60_000;
/** Workers, since one process for hundreds of applications keeps too much of them in memory; one that has grown is replaced. */
const workers = (kinds) => (kinds.includes('chaos') ? [] : ['--maxWorkers=2', '--workerIdleMemoryLimit=1GB']);
/** A configuration of its own says for itself how patient it is. */
const ownConfig = args.some((arg) => /^--config\b/.test(arg));
const runs = ownChoice
  ? [ownConfig ? args : [PATIENCE, ...args]]
  : stages.map((kinds) => [PATIENCE, ...args, '--passWithNoTests', ...workers(kinds), '--selectProjects', ...kinds]);

process.env.NODE_OPTIONS =
  `${process.env.NODE_OPTIONS ?? ''} --max-old-space-size=8192 --experimental-vm-modules --disable-warning=ExperimentalWarning`.trim();
const folder = mkdtempSync(join(tmpdir(), 'lease-test-'));
const sum = { passed: 0, failed: 0, skipped: 0 };
let exitCode = 0;

// Once, before the tests that start samples do so side by side.
if (!ownChoice && runNode('scripts/build.mjs', ['--if-needed', '--samples']) !== 0) sum.failed += 1;

for (const [index, jestArgs] of runs.entries()) {
  const report = join(folder, `${index}.json`);
  const code = runNode('node_modules/jest/bin/jest.js', ['--json', `--outputFile=${report}`, ...jestArgs], {
    stdio: ['inherit', 'ignore', 'inherit'],
    timeout: LONGEST_STAGE_MS,
    killSignal: 'SIGKILL',
  });
  exitCode ||= code;
  count(report, code);
}
rmSync(folder, { recursive: true, force: true });

if (sum.passed + sum.failed === 0) {
  console.error('No test was found.');
  sum.failed = 1;
}
console.log(`${sum.passed} passed, ${sum.failed} failed, ${sum.skipped} skipped`);
process.exit(exitCode || (sum.failed > 0 ? 1 : 0));

function count(report, code) {
  let result;
  try {
    result = JSON.parse(readFileSync(report, 'utf8'));
  } catch {
    sum.failed += 1; // Jest itself fell over: that must never read as success
    exitCode ||= 1;
    return;
  }
  sum.passed += result.numPassedTests;
  sum.failed += result.numFailedTests + result.numRuntimeErrorTestSuites;
  sum.skipped += result.numPendingTests + result.numTodoTests;
  if (code !== 0 && result.numFailedTests + result.numRuntimeErrorTestSuites === 0) sum.failed += 1;
}
