import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { createInterface } from 'node:readline';

/** Answers requests of other processes: one line of JSON each, and one for its answer. */
export class LineServer {
  private readonly sockets = new Set<Socket>();

  private constructor(
    private readonly server: Server,
    private readonly answer: (request: any) => unknown,
  ) {
    server.on('connection', (socket) => this.accept(socket));
  }

  /** What `answer` throws or rejects with is what the client's call rejects with. */
  static async start(answer: (request: any) => unknown): Promise<LineServer> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return new LineServer(server, answer);
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  async stop(): Promise<void> {
    const closed = new Promise((resolve) => this.server.close(resolve));
    for (const socket of this.sockets) socket.destroy();
    await closed;
  }

  private accept(socket: Socket): void {
    this.sockets.add(socket);
    socket.setNoDelay(true);
    socket.on('error', () => undefined);
    socket.on('close', () => this.sockets.delete(socket));
    const lines = createInterface({ input: socket });
    // It passes on the errors of its input.
    lines.on('error', () => undefined);
    const write = (reply: unknown): unknown => socket.destroyed || socket.write(`${JSON.stringify(reply)}\n`);
    lines.on('line', (line) => {
      new Promise((resolve) => resolve(this.answer(JSON.parse(line)))).then(write, (error: unknown) => write({ error: String(error) }));
    });
  }
}

/** Asks a {@link LineServer}; answers come in the order of the questions. */
export class LineClient<Request, Reply> {
  private readonly waiting: ((reply: Reply & { error?: string }) => void)[] = [];

  private constructor(private readonly socket: Socket) {
    socket.setNoDelay(true);
    const lines = createInterface({ input: socket });
    lines.on('error', () => undefined);
    lines.on('line', (line) => this.waiting.shift()?.(JSON.parse(line) as Reply & { error?: string }));
  }

  static async connect<Request, Reply>(port: number): Promise<LineClient<Request, Reply>> {
    const socket = connect({ port, host: '127.0.0.1' });
    await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject));
    socket.on('error', () => undefined);
    return new LineClient(socket);
  }

  async ask(request: Request): Promise<Reply> {
    const reply = await new Promise<Reply & { error?: string }>((resolve) => {
      this.waiting.push(resolve);
      this.socket.write(`${JSON.stringify(request)}\n`);
    });
    if (reply.error !== undefined) throw new Error(reply.error);
    return reply;
  }
}
