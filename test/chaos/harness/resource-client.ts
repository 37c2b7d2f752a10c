import { connect, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import type { ResourceReply, ResourceRequest } from './resource.js';

/** Asks the resource from another process; answers come in the order of the questions. */
export class ResourceClient {
  private readonly waiting: ((reply: ResourceReply & { error?: string }) => void)[] = [];

  private constructor(private readonly socket: Socket) {
    socket.setNoDelay(true);
    const lines = createInterface({ input: socket });
    lines.on('error', () => undefined);
    lines.on('line', (line) => this.waiting.shift()?.(JSON.parse(line) as ResourceReply));
  }

  static async connect(port: number): Promise<ResourceClient> {
    const socket = connect({ port, host: '127.0.0.1' });
    await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject));
    socket.on('error', () => undefined);
    return new ResourceClient(socket);
  }

  async ask(request: ResourceRequest): Promise<ResourceReply> {
    const reply = await new Promise<ResourceReply & { error?: string }>((resolve) => {
      this.waiting.push(resolve);
      this.socket.write(`${JSON.stringify(request)}\n`);
    });
    if (reply.error !== undefined) throw new Error(reply.error);
    return reply;
  }
}
