import { connect, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import type { Monitored } from '../waiting/line-model.js';

const LINE = /^\+(\d+\.\d+) \[\d+ ([^\]]*)\] (.*)$/;
const WORD = /"((?:[^"\\]|\\.)*)"/g;

/** MONITOR of one server; ends with the connection, and does not come back by itself. */
export class Monitor {
  private constructor(private readonly socket: Socket) {}

  /** Resolves when the server has agreed; `closed` is told when it hangs up later. */
  static async open(
    at: { readonly host: string; readonly port: number },
    tell: (seen: Monitored) => void,
    closed: () => void,
  ): Promise<Monitor> {
    const socket = connect({ host: at.host, port: at.port });
    await new Promise<void>((resolve, reject) => {
      socket.once('error', reject).once('close', () => reject(new Error('The server hung up.')));
      const lines = createInterface({ input: socket });
      lines.on('error', () => undefined);
      lines.on('line', (line) => {
        if (line === '+OK') resolve();
        const found = LINE.exec(line);
        if (found) tell({ at: Number(found[1]) * 1000, source: String(found[2]), args: wordsOf(String(found[3])) });
      });
      socket.write('MONITOR\r\n');
    });
    socket.on('error', () => undefined);
    if (socket.destroyed) throw new Error('The server hung up.');
    socket.once('close', closed);
    return new Monitor(socket);
  }

  close(): void {
    this.socket.removeAllListeners('close').destroy();
  }
}

const wordsOf = (text: string): string[] => [...text.matchAll(WORD)].map(([, word = '']) => word.replace(/\\(x[0-9a-f]{2}|.)/g, unescape));

function unescape(_: string, code: string): string {
  if (code.length === 3) return String.fromCharCode(Number.parseInt(code.slice(1), 16));
  return ({ n: '\n', r: '\r', t: '\t', a: '\x07', b: '\b' } as Record<string, string>)[code] ?? code;
}
