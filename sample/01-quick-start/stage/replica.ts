/** One replica of the job runner, as the scenes see and mistreat it. */
export interface Replica {
  readonly name: string;
  readonly url: string;
  /** Its next write stops between the check and the write itself: the worst moment. Resolves when that is arranged. */
  freezeAtNextWrite(): Promise<void>;
  /** Resolves when it stands still. */
  frozen(): Promise<void>;
  resume(): void;
  /** It is gone, and can tell nobody. */
  crash(): Promise<void>;
}

/** Where replicas come from. */
export interface Fleet {
  /** One line: which store, and what a replica is. */
  readonly description: string;
  /** What freezing means here, for the timeline. */
  readonly freezing: string;
  /** What a crash means here, for the timeline. */
  readonly crashing: string;
  start(name: string, port: number): Promise<Replica>;
  stop(): Promise<void>;
}
