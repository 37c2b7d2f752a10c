/** Runs a sample to its end: exit code 0, or one line on what failed. */
export function runSample(main: () => Promise<void>): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit());
  // No timer of the library keeps a process alive, and a sample in memory has no server that would.
  setInterval(() => undefined, 60_000);
  main().then(
    () => process.exit(0),
    (error: unknown) => {
      console.error(error instanceof Error ? error.message : error);
      process.exit(1);
    },
  );
}

/** An address for the screen. */
export function withoutPassword(url: string): string {
  try {
    const { protocol, host, pathname } = new URL(url);
    return `${protocol}//${host}${pathname}`;
  } catch {
    return 'the given address';
  }
}
