import { Redis } from 'ioredis';

/** One command on a connection of its own, and its whole reply. Rejects after 2 s. */
export async function command(node: { readonly host: string; readonly port: number }, name: string, ...args: string[]): Promise<unknown> {
  const client = new Redis({
    host: node.host,
    port: node.port,
    lazyConnect: true,
    enableReadyCheck: false,
    commandTimeout: 2000,
    disconnectTimeout: 50,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
  });
  client.on('error', () => undefined);
  try {
    return await client.call(name, ...args);
  } finally {
    client.disconnect();
  }
}

/** The lines `name:value` of a text as `INFO` gives it. */
export function fieldsOf(text: unknown): Record<string, string> {
  const lines = String(text)
    .split(/\r?\n/)
    .map((line) => /^([^:#]+):(.*)$/.exec(line));
  return Object.fromEntries(lines.flatMap((found) => (found ? [[found[1], found[2]]] : [])) as [string, string][]);
}

/** What a node says of itself and its replication. */
export async function replicationOf(node: { readonly host: string; readonly port: number }): Promise<Record<string, string>> {
  return fieldsOf(await command(node, 'INFO', 'replication'));
}
