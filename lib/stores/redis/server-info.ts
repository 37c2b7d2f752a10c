/** What `INFO` tells of a server. */
export interface ServerInfo {
  /** Random for each start of the process. */
  readonly runId: string;
  /** The history of its data: replicas have that of their primary. */
  readonly replicationId: string;
  /** The history it followed before, as a replica that was promoted since; `undefined` for none. */
  readonly formerReplicationId: string | undefined;
  readonly uptimeMs: number;
  readonly isPrimary: boolean;
  /** It reads its data from disk, and answers nothing else yet. */
  readonly isLoading: boolean;
  /** What it does when its memory is full, where it tells. */
  readonly evictionPolicy: string | undefined;
}

/** Reads the reply of `INFO`; `undefined` where it does not tell what is needed, as behind some proxies. */
export function readServerInfo(reply: unknown): ServerInfo | undefined {
  const fields = new Map([...String(reply).matchAll(/^([a-z_0-9]+):(.*?)\r?$/gm)].map(([, name, value]) => [name, value]));
  const runId = fields.get('run_id');
  const replicationId = fields.get('master_replid');
  const uptime = Number(fields.get('uptime_in_seconds') ?? NaN);
  if (!runId || !replicationId || !Number.isFinite(uptime)) return undefined;
  const former = fields.get('master_replid2');
  return {
    runId,
    replicationId,
    formerReplicationId: former === undefined || /^0*$/.test(former) ? undefined : former,
    uptimeMs: uptime * 1000,
    isPrimary: fields.get('role') !== 'slave',
    isLoading: fields.get('loading') === '1',
    evictionPolicy: fields.get('maxmemory_policy'),
  };
}

/** The history in a reply of `INFO replication`. */
export function readHistory(reply: unknown): string | undefined {
  return /^master_replid:(\w+)/m.exec(String(reply))?.[1];
}

/** The settings in a reply of `CONFIG GET`: RESP2 gives a list of names and values, RESP3 a map. */
export function readSettings(reply: unknown): Map<unknown, unknown> {
  if (reply instanceof Map) return reply;
  if (!Array.isArray(reply)) return new Map(Object.entries(reply ?? {}));
  return new Map(reply.flatMap((name: unknown, i) => (i % 2 === 0 ? [[name, reply[i + 1]] as const] : [])));
}
