import { spawnSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** The folder of package.json. */
export const root = join(import.meta.dirname, '..');

/** Runs a command with our own input and output, and ends this process with its code when it fails. */
export function runOrExit(command, args, options = {}) {
  const code = run(command, args, options);
  if (code !== 0) process.exit(code);
}

/** Runs a command with our own input and output; its exit code, 1 where it was stopped for taking longer than `options.timeout`. */
export function run(command, args, options = {}) {
  const { status, signal, error } = spawnSync(command, args, { cwd: root, stdio: 'inherit', ...options });
  if (error?.code === 'ETIMEDOUT') console.error(`Stopped after ${Math.round(options.timeout / 1000)} s: ${[command, ...args].join(' ')}`);
  else if (error) throw error;
  return status ?? (signal ? 1 : 0);
}

/** Runs a program that a package of node_modules brings, given its file, without a shell in between. */
export const runNode = (file, args, options) => run(process.execPath, [join(root, file), ...args], options);

/** The time of the newest file in these files and folders, in milliseconds; 0 when there is none. */
export function newest(...paths) {
  return Math.max(0, ...paths.map((path) => newestOf(join(root, path))));
}

function newestOf(path) {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat) return 0;
  if (!stat.isDirectory()) return stat.mtimeMs;
  return Math.max(0, ...readdirSync(path).map((name) => newestOf(join(path, name))));
}
