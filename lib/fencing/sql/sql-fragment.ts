/** A function that is used as a template tag: `sql` of Drizzle or postgres.js, `Prisma.sql`. */
export type SqlTag<T> = (strings: TemplateStringsArray, ...values: never[]) => T;

/** A piece of SQL with its values apart from it, to be written in the way the client at hand wants its parameters. */
export class SqlFragment {
  /** @param strings the text around the values: one more than there are values */
  constructor(
    readonly strings: readonly string[],
    readonly values: readonly unknown[],
  ) {}

  /** `$1`, `$2`, ...: `[text, values]` for `pg` and for raw queries of TypeORM on PostgreSQL. `from`: number of the first one, default 1. */
  numbered(from = 1): [text: string, values: unknown[]] {
    return [this.join((index) => `$${String(from + index)}`), [...this.values]];
  }

  /** `?`: `[text, values]` for `mysql2` and for Knex (`.whereRaw(...fence.where.positional())`). */
  positional(): [text: string, values: unknown[]] {
    return [this.join(() => '?'), [...this.values]];
  }

  /** `:fence1`, `:fence2`, ...: `[text, values]` for TypeORM's query builders (`.andWhere(...fence.where.named())`). */
  named(prefix = 'fence'): [text: string, values: Record<string, unknown>] {
    const name = (index: number): string => `${prefix}${String(index + 1)}`;
    const values = Object.fromEntries(this.values.map((value, index) => [name(index), value]));
    return [this.join((index) => `:${name(index)}`), values];
  }

  /** Through a template tag: `fence.where.tag(sql)` is an `SQL` of Drizzle when `sql` is Drizzle's. */
  tag<T>(sql: SqlTag<T>): T {
    const strings = Object.assign([...this.strings], { raw: [...this.strings] });
    return sql(strings, ...(this.values as never[]));
  }

  private join(mark: (index: number) => string): string {
    return this.strings.map((text, index) => (index < this.values.length ? text + mark(index) : text)).join('');
  }
}

/** Text that stands as it is: quoted names and keywords, never a value. */
export function raw(text: string): SqlFragment {
  return new SqlFragment([text], []);
}

/** Template tag: fragments are spliced in, everything else becomes a parameter. */
export function sql(strings: TemplateStringsArray, ...values: readonly unknown[]): SqlFragment {
  const texts: string[] = [];
  const params: unknown[] = [];
  let text = strings[0] as string;
  values.forEach((value, index) => {
    const inner = value instanceof SqlFragment ? value : new SqlFragment(['', ''], [value]);
    inner.strings.forEach((part, at) => {
      if (at > 0) texts.push(text);
      text = at > 0 ? part : text + part;
    });
    params.push(...inner.values);
    text += strings[index + 1] as string;
  });
  return new SqlFragment([...texts, text], params);
}

/** Fragments with `separator` between them. */
export function joined(fragments: readonly SqlFragment[], separator: string): SqlFragment {
  return fragments.reduce((left, right) => sql`${left}${raw(separator)}${right}`);
}
