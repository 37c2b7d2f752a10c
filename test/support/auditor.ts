import { LineClient, LineServer } from './line-server.js';

/** A write as the auditor saw it. */
export interface AuditedWrite {
  readonly resource: string;
  readonly token: number;
  readonly holder: string;
  readonly value: number;
  /** When it arrived, in milliseconds on the auditor's clock. */
  readonly at: number;
  /** Whether the fenced row took it. */
  readonly accepted: boolean;
}

/** What a client asks. */
export interface AuditRequest {
  /**
   * `read` with a token also claims the row: from then on it refuses lower ones, so that nothing changes behind a reader's back.
   * `write`: a value to both; `update`: `value` to the journal and `fencedValue` to the row, each read before.
   */
  readonly op: 'read' | 'write' | 'update';
  readonly resource: string;
  readonly token?: number;
  readonly holder?: string;
  readonly value?: number;
  readonly fencedValue?: number;
}

/** What it is told. `plain` is what the unfenced journal says, `fenced` what the row says; `accepted` whether the row took the write. */
export interface AuditReply {
  readonly plain: number;
  readonly fenced: number;
  readonly fencedToken: number;
  readonly accepted: boolean;
}

interface Row {
  value: number;
  token: number;
  holder: string;
}

/**
 * The resource that leases protect in attacks: it records every write. Each resource is one row with a fence check (refuses a
 * lower token, and the same token of another holder) and one unfenced journal, whose last write counts.
 */
export class Auditor {
  readonly journal: AuditedWrite[] = [];
  private readonly rows = new Map<string, Row>();
  private readonly plain = new Map<string, number>();
  private server!: LineServer;

  private constructor() {}

  static async start(): Promise<Auditor> {
    const auditor = new Auditor();
    auditor.server = await LineServer.start((request: AuditRequest) => auditor.ask(request));
    return auditor;
  }

  get port(): number {
    return this.server.port;
  }

  /** What somebody asks; also without a connection. */
  ask({ op, resource, token = 0, holder = '', value = 0, fencedValue = value }: AuditRequest): AuditReply {
    const row = this.rows.get(resource) ?? { value: 0, token: 0, holder: '' };
    const accepted = token > row.token || (token === row.token && holder === row.holder);
    if (op === 'read' && accepted) this.rows.set(resource, { value: row.value, token, holder });
    if (op !== 'read') {
      if (accepted) this.rows.set(resource, { value: fencedValue, token, holder });
      this.plain.set(resource, value);
      this.journal.push({ resource, token, holder, value, accepted, at: performance.now() });
    }
    const now = this.rows.get(resource) ?? row;
    return { plain: this.plain.get(resource) ?? 0, fenced: now.value, fencedToken: now.token, accepted };
  }

  /** Writes of one resource in the order in which they arrived. */
  of(resource: string): AuditedWrite[] {
    return this.journal.filter((write) => write.resource === resource);
  }

  /** Holders that wrote after somebody with a higher token had: each is two holders at once. */
  interleaved(resource: string): AuditedWrite[] {
    let highest = 0;
    return this.of(resource).filter((write) => {
      const late = write.token < highest;
      highest = Math.max(highest, write.token);
      return late;
    });
  }

  stop(): Promise<void> {
    return this.server.stop();
  }
}

/** Asks an auditor in another process. */
export type AuditorClient = LineClient<AuditRequest, AuditReply>;

export const connectAuditor = (port: number): Promise<AuditorClient> => LineClient.connect(port);
