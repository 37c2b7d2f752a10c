/** The values that one field of a cron expression allows, with look-ups in constant time. */
export class FieldSet {
  /** The allowed values, ascending, at least one. */
  readonly values: readonly number[];
  readonly first: number;
  readonly last: number;
  readonly size: number;
  private readonly above: Int8Array;
  private readonly below: Int8Array;

  /** @param values at least one, each from 0 to 59, in any order. */
  constructor(values: Iterable<number>) {
    this.values = [...new Set(values)].sort((a, b) => a - b);
    this.size = this.values.length;
    this.first = this.values[0] as number;
    this.last = this.values[this.size - 1] as number;
    this.above = Int8Array.from({ length: 62 }, (_, v) => this.values.find((x) => x >= v) ?? -1);
    this.below = Int8Array.from({ length: 62 }, (_, v) => this.values.findLast((x) => x <= v) ?? -1);
  }

  has(value: number): boolean {
    return this.above[value] === value;
  }

  /** The smallest allowed value that is not below `value` (0 to 61), or -1. */
  ceil(value: number): number {
    return this.above[value] as number;
  }

  /** The largest allowed value that is not above `value`, or -1. */
  floor(value: number): number {
    return value < 0 ? -1 : (this.below[value] as number);
  }
}
