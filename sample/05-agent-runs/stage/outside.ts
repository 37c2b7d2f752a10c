import { Model, Tools } from '../app/outside.js';

/** How a replica reaches the world: by calls by name, within this process or to the parent. */
export type Reach = <T>(name: 'next' | 'call' | 'lookUp', ...args: unknown[]) => Promise<T>;

/** The model, as a replica sees it. */
export class ReachedModel extends Model {
  constructor(
    private readonly name: string,
    private readonly reach: Reach,
  ) {
    super();
  }

  next(_thread: string, answers: readonly string[]): Promise<string | undefined> {
    return this.reach('next', this.name, answers.length);
  }
}

/** The tools, as a replica sees them. */
export class ReachedTools extends Tools {
  constructor(
    private readonly name: string,
    private readonly reach: Reach,
  ) {
    super();
  }

  call(tool: string, key: string): Promise<string> {
    return this.reach('call', this.name, tool, key);
  }

  lookUp(key: string): Promise<string | undefined> {
    return this.reach('lookUp', this.name, key);
  }
}
