import { execFile } from 'node:child_process';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

/** Stands in for curl, since a machine with Node and nothing else has none: `-i`, `-s`, `-X METHOD` and one URL. */
const CURL = `#!${process.execPath}
const args = process.argv.slice(2);
const at = args.indexOf('-X');
const [method] = at < 0 ? ['GET'] : args.splice(at, 2).slice(1);
const url = args.find((arg) => !arg.startsWith('-'));
fetch(url, { method }).then(async (response) => {
  const head = 'HTTP/1.1 ' + response.status + ' ' + response.statusText + '\\n' + [...response.headers].map((pair) => pair.join(': ')).join('\\n');
  console.log((args.includes('-i') ? head + '\\n\\n' : '') + (await response.text()));
});
`;

/** Runs a block of the README in a shell, as it is but for the addresses of the three replicas. Gives what it prints. */
export async function runCurlBlock(text: string, urls: readonly string[]): Promise<string> {
  const script = urls.reduce((changed, url, index) => changed.replaceAll(`http://localhost:${3000 + index}`, url), text);
  const folder = await mkdtemp(join(tmpdir(), 'lease-curl-'));
  try {
    const path = (await hasCurl()) ? process.env.PATH : `${folder}${delimiter}${process.env.PATH ?? ''}`;
    await writeFile(join(folder, 'curl'), CURL);
    await chmod(join(folder, 'curl'), 0o755);
    return await output('sh', ['-c', script], { ...process.env, PATH: path, NODE_OPTIONS: '' });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function hasCurl(): Promise<boolean> {
  return output('curl', ['--version'], process.env).then(
    () => true,
    () => false,
  );
}

function output(command: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(command, args, { env, timeout: 30_000 }, (error, stdout) => (error ? reject(error) : resolve(stdout)));
  });
}
