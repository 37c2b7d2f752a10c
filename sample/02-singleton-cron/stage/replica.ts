/** What a replica tells of its runs. */
export interface Told {
  readonly what: 'began' | 'ended';
  readonly instant: number;
  readonly fencingToken: number;
}

/** One replica, as the play sees and mistreats it. */
export interface Replica {
  readonly name: string;
  /** What its clock says, less what is true. */
  readonly shiftMs: number;
  /** It is gone, in the middle of whatever it does, and can tell nobody. */
  kill(): Promise<void>;
}

/** Where replicas come from. */
export interface Fleet {
  /** One line: which store, and what a replica is. */
  readonly description: string;
  start(name: string, shiftMs: number, tell: (told: Told) => void): Promise<Replica>;
  stop(): Promise<void>;
}
