import { performance } from 'node:perf_hooks';

export const median = (numbers) => {
  const sorted = [...numbers].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
};

/** Wall and CPU time of `fn`, in ms. */
export async function timed(fn) {
  const cpu = process.cpuUsage();
  const start = performance.now();
  await fn();
  const wallMs = performance.now() - start;
  const { user, system } = process.cpuUsage(cpu);
  return { wallMs, cpuMs: (user + system) / 1000 };
}

/**
 * Both, one after the other in each round and in turns first, so that a noisy machine treats them alike. The ratio is the
 * median of those of the rounds.
 */
export async function compare(rounds, n, ours, raw) {
  const results = { ours: [], raw: [] };
  await ours(Math.ceil(n / 4));
  await raw(Math.ceil(n / 4));
  for (let round = 0; round < rounds; round++) {
    const order = round % 2 ? ['raw', 'ours'] : ['ours', 'raw'];
    for (const which of order) results[which].push(await timed(() => (which === 'ours' ? ours(n) : raw(n))));
  }
  const perSecond = (list) => median(list.map(({ wallMs }) => (n / wallMs) * 1000));
  const cpuMicros = (list) => median(list.map(({ cpuMs }) => (cpuMs / n) * 1000));
  return {
    ours: Math.round(perSecond(results.ours)),
    raw: Math.round(perSecond(results.raw)),
    ratio: median(results.ours.map(({ wallMs }, i) => results.raw[i].wallMs / wallMs)),
    oursCpuMicros: cpuMicros(results.ours),
    rawCpuMicros: cpuMicros(results.raw),
  };
}

/** Bytes of heap in use, after garbage was collected. */
export function heapUsed() {
  globalThis.gc();
  globalThis.gc();
  return process.memoryUsage().heapUsed;
}
