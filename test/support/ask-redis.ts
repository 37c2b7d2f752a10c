import { connect } from 'node:net';

/** Where to ask. */
export interface RedisAddress {
  readonly host: string;
  readonly port: number;
  readonly password?: string | undefined;
}

const encode = (command: readonly string[]): string =>
  `*${String(command.length)}\r\n${command.map((part) => `$${String(Buffer.byteLength(part))}\r\n${part}\r\n`).join('')}`;

/** One command without a client library, on a connection of its own; gives the first chunk of the raw reply. */
export function askRedis({ host, port, password }: RedisAddress, command: readonly string[], timeoutMs = 1000): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port });
    const end = (act: () => void): void => {
      socket.destroy();
      act();
    };
    socket.setTimeout(timeoutMs, () => end(() => reject(new Error('no answer'))));
    socket.on('error', (error) => end(() => reject(error)));
    socket.on('close', () => reject(new Error('closed')));
    let skip = password === undefined ? 0 : 1;
    if (password !== undefined) socket.write(encode(['AUTH', password]));
    socket.write(encode(command));
    let received = '';
    socket.on('data', (chunk) => {
      received += chunk.toString();
      while (skip > 0 && received.includes('\r\n')) {
        received = received.slice(received.indexOf('\r\n') + 2);
        skip -= 1;
      }
      if (skip === 0 && received.includes('\r\n')) end(() => resolve(received));
    });
  });
}
