import { AsyncLocalStorage } from 'node:async_hooks';

/** The part of an HTTP response (`ServerResponse`, HTTP/2 too) that tells whether its client is still there. */
export interface ClientResponse {
  readonly destroyed?: boolean;
  readonly writableFinished?: boolean;
  on(event: 'close', listener: () => void): unknown;
  off(event: 'close', listener: () => void): unknown;
}

/** A signal that aborts when the client goes away, and how to let go of it. */
export interface ClientSignal {
  readonly signal: AbortSignal;
  unlink(): void;
}

/** Whose answer the running code works on, if it is an HTTP client's. One for each application. */
export class ClientContext {
  private readonly storage = new AsyncLocalStorage<ClientResponse>();

  run<T>(response: ClientResponse, fn: () => T): T {
    return this.storage.run(response, fn);
  }

  get response(): ClientResponse | undefined {
    return this.storage.getStore();
  }

  /** Made only for calls that wait: most never need it. */
  signalOf(response: ClientResponse): ClientSignal {
    const controller = new AbortController();
    // 'close' comes after the answer was sent, too: then nobody went away.
    const closed = (): void => {
      if (!response.writableFinished) controller.abort(new Error('The client closed the connection before it was answered.'));
    };
    if (response.destroyed) closed();
    response.on('close', closed);
    return { signal: controller.signal, unlink: () => void response.off('close', closed) };
  }

  /** Called by Nest. A storage that is not let go costs every asynchronous step of the process something, long after its application has gone. */
  onApplicationShutdown(): void {
    this.storage.disable();
  }
}
