import type { Database } from '../app/database.js';

/** A database whose next UPDATE a scene can hold up just before it leaves. */
export class FreezingDatabase implements Database {
  private armed = false;

  constructor(
    private readonly database: Database,
    private readonly freeze: () => Promise<void>,
  ) {}

  arm(): void {
    this.armed = true;
  }

  async query(text: string, values?: unknown[]): Promise<{ readonly rows: unknown[] }> {
    if (this.armed && text.startsWith('UPDATE')) {
      this.armed = false;
      await this.freeze();
    }
    return this.database.query(text, values);
  }
}
