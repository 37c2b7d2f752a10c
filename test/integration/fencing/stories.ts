import { expect } from '@jest/globals';
import { REFUSED_BY_FENCE, StaleFencingTokenError, type FencedBy } from 'nestjs-lease/fencing';

/** A holder, and what it has been told. */
export class Holder implements FencedBy {
  readonly key = 'account:7';
  readonly refusals: StaleFencingTokenError[] = [];

  constructor(
    readonly fencingToken: number,
    readonly holderTag: string,
  ) {}

  [REFUSED_BY_FENCE](error: StaleFencingTokenError): void {
    this.refusals.push(error);
  }
}

/** Real tokens are microseconds since 1970, far above 2^31. */
export const EPOCH = 1_764_720_000_000_000;
export const holder = (n: number, tag = `h${String(n)}`): Holder => new Holder(EPOCH + n, tag);

/** The pause that no ttl can rule out: A holds 33 and stands still, its lease expires, B writes with 34, A goes on. */
export async function classicStory(write: (who: Holder, value: number) => Promise<number>): Promise<void> {
  const [a, b] = [holder(33), holder(34)];
  expect(await write(a, 1)).toBe(1);
  expect(await write(b, 2)).toBe(1);
  const late = write(a, 3);
  await expect(late).rejects.toThrow(StaleFencingTokenError);
  await expect(late).rejects.toMatchObject({
    code: 'FENCING_TOKEN_STALE',
    fencingToken: a.fencingToken,
    current: b.fencingToken,
    key: a.key,
  });
  expect(a.refusals).toEqual([expect.objectContaining({ current: b.fencingToken })]);
  // Equal from another holder is refused, the same holder may go on.
  await expect(write(holder(34, 'impostor'), 4)).rejects.toMatchObject({ code: 'FENCING_TOKEN_STALE', current: b.fencingToken });
  expect(await write(b, 5)).toBe(1);
  expect(await write(b, 5)).toBe(1);
  expect(b.refusals).toEqual([]);
}
