import { inspect } from 'node:util';

/** What the spec tells the runner as its only argument. */
export interface RunOrder {
  readonly names: readonly string[];
  /** The SQL of the README by name of its block. */
  readonly sql: Readonly<Record<string, string>>;
}

/** What every file of examples/ exports beside the names that its block uses. */
interface Harness {
  /** Uses what the block declares, and throws when that does not do what the README says. */
  check(block: Record<string, any>, sql: RunOrder['sql']): Promise<void>;
}

const LIMIT_MS = 20_000;
const order = JSON.parse(process.argv[2] ?? '{}') as RunOrder;
const results: Record<string, string> = {};

for (const name of order.names) {
  try {
    await withLimit(runOne(name));
    results[name] = 'ok';
  } catch (error) {
    results[name] = inspect(error);
  }
}
process.stdout.write(`\n${JSON.stringify(results)}\n`, () => process.exit());

async function runOne(name: string): Promise<void> {
  const { check } = (await import(`./examples/${name}.js`)) as Harness;
  const block = (await import(`../../../dist-sample/readme/src/${name}.js`)) as Record<string, any>;
  await check(block, order.sql);
}

/** The timer also keeps the process alive: those of the library do not. */
async function withLimit(running: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not finished after ${LIMIT_MS} ms`)), LIMIT_MS);
  });
  await Promise.race([running, late]).finally(() => clearTimeout(timer));
}
