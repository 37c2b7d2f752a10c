/** What the other side may call. */
export type Handlers = Record<string, (...args: never[]) => unknown>;

/** A process on the other side: a child, or (for the child) the parent. */
interface Port {
  send?(message: unknown): unknown;
  on(event: 'message', listener: (message: unknown) => void): unknown;
}

type Message =
  | { readonly call: string; readonly id: number; readonly args: never[] }
  | { readonly reply: number; readonly value?: unknown; readonly error?: Told };

/** What is told of an error. */
export interface Told {
  readonly message: string;
  readonly code?: string | undefined;
  readonly reason?: string | undefined;
  readonly fencingToken?: number | undefined;
  readonly current?: number | undefined;
  readonly cause?: Told;
}

/** Calls from one process to another and back. Only for the stage: an application of yours has a database and HTTP. */
export class Link {
  private readonly pending = new Map<number, { resolve(value: unknown): void; reject(error: unknown): void }>();
  private calls = 0;

  constructor(
    private readonly port: Port,
    private readonly handlers: Handlers,
  ) {
    port.on('message', (message) => void this.take(message as Message));
  }

  call<T>(name: string, ...args: unknown[]): Promise<T> {
    return new Promise<unknown>((resolve, reject) => {
      this.calls += 1;
      this.pending.set(this.calls, { resolve, reject });
      this.port.send?.({ call: name, id: this.calls, args });
    }) as Promise<T>;
  }

  /** The other side is gone. */
  breakOff(): void {
    for (const { reject } of this.pending.values()) reject(new Error('the process is gone'));
    this.pending.clear();
  }

  private async take(message: Message): Promise<void> {
    if ('call' in message) {
      try {
        this.port.send?.({ reply: message.id, value: await this.handlers[message.call]?.(...message.args) });
      } catch (error) {
        this.port.send?.({ reply: message.id, error: tell(error) });
      }
      return;
    }
    const call = this.pending.get(message.reply);
    this.pending.delete(message.reply);
    if (message.error) call?.reject(Object.assign(new Error(message.error.message), message.error));
    else call?.resolve(message.value);
  }
}

/** An error as the other side will see it. */
export function tell(error: unknown): Told {
  const { message = String(error), code, reason, fencingToken, current, cause } = error as Partial<Told>;
  return { message, code, reason, fencingToken, current, ...(cause === undefined ? {} : { cause: tell(cause) }) };
}
