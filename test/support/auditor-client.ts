import { connect, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import type { AuditReply, AuditRequest } from './auditor.js';

/** Asks an auditor in another process; answers come in the order of the questions. */
export class AuditorClient {
  private readonly waiting: ((reply: AuditReply) => void)[] = [];

  private constructor(private readonly socket: Socket) {
    socket.setNoDelay(true);
    const lines = createInterface({ input: socket });
    lines.on('error', () => undefined);
    lines.on('line', (line) => this.waiting.shift()?.(JSON.parse(line) as AuditReply));
  }

  static async connect(port: number): Promise<AuditorClient> {
    const socket = connect({ port, host: '127.0.0.1' });
    await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject));
    socket.on('error', () => undefined);
    return new AuditorClient(socket);
  }

  ask(request: AuditRequest): Promise<AuditReply> {
    return new Promise((resolve) => {
      this.waiting.push(resolve);
      this.socket.write(`${JSON.stringify(request)}\n`);
    });
  }

  close(): void {
    this.socket.destroy();
  }
}
