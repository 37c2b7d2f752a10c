/** One command on its way to Redis. */
export interface SentCommand {
  readonly command: readonly string[];
  /** As it came. */
  readonly raw: Buffer;
}

/** A command as Redis reads it. */
export function encodeCommand(command: readonly string[]): Buffer {
  return Buffer.from(
    `*${String(command.length)}\r\n${command.map((part) => `$${String(Buffer.byteLength(part))}\r\n${part}\r\n`).join('')}`,
  );
}

/** Reads commands from what a client of Redis sends, in whatever pieces that comes. */
export class RequestReader {
  private rest: Buffer = Buffer.alloc(0);

  /** The commands that end in this chunk; the beginning of a further one is kept. */
  read(chunk: Buffer): SentCommand[] {
    this.rest = this.rest.length === 0 ? chunk : Buffer.concat([this.rest, chunk]);
    const commands: SentCommand[] = [];
    for (let next = this.next(); next; next = this.next()) commands.push(next);
    return commands;
  }

  private next(): SentCommand | undefined {
    const head = this.line(0);
    if (head === undefined) return undefined;
    if (!head.text.startsWith('*')) throw new Error(`This is not a command of Redis: ${head.text}`);
    const command: string[] = [];
    let at = head.end;
    for (let left = Number(head.text.slice(1)); left > 0; left--) {
      const length = this.line(at);
      if (length === undefined) return undefined;
      const start = length.end;
      at = start + Number(length.text.slice(1)) + 2;
      if (at > this.rest.length) return undefined;
      command.push(this.rest.toString('utf8', start, at - 2));
    }
    const raw = this.rest.subarray(0, at);
    this.rest = this.rest.subarray(at);
    return { command, raw };
  }

  private line(from: number): { readonly text: string; readonly end: number } | undefined {
    const end = this.rest.indexOf('\r\n', from);
    return end < 0 ? undefined : { text: this.rest.toString('latin1', from, end), end: end + 2 };
  }
}
