/** The language model: what to do next in a thread. */
export abstract class Model {
  /** Which tool to call next, after these answers; `undefined` when the thread is done. */
  abstract next(thread: string, answers: readonly string[]): Promise<string | undefined>;
}

/** What an agent does to the world. Each call has effects that cannot be taken back. */
export abstract class Tools {
  /** `key` is the idempotency key of this very call. */
  abstract call(tool: string, key: string): Promise<string>;

  /** What a call with this key has answered, or `undefined` when there was none: most payment, mail and booking APIs can tell. */
  abstract lookUp(key: string): Promise<string | undefined>;
}
