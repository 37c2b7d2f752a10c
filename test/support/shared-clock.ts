/** Milliseconds of the clock that all processes of a machine share (it stands still in none of them, and nobody sets it). */
const monotonic = (): number => Number(process.hrtime.bigint()) / 1e6;

/** What makes it a time of day; children inherit it. */
const epoch = Number((process.env['LEASE_TEST_EPOCH'] ??= String(Date.now() - monotonic())));

/**
 * Milliseconds since the epoch, the same in this process and its children to a fraction of a millisecond. (`performance.timeOrigin`
 * is not: a process that was put aside while it started is off by as much as that took, on a busy machine by hundreds of milliseconds.)
 */
export const sharedNow = (): number => epoch + monotonic();
