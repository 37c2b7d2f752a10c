import { getMaxListeners, setMaxListeners } from 'node:events';

/**
 * Calls `fn` once when `signal` aborts; the function that is returned ends it. The listener does not count towards the number
 * above which Node warns of a leak: many calls may share the signal of one request.
 */
export function onAbort(signal: AbortSignal, fn: () => void): () => void {
  allowMore(signal, 1);
  signal.addEventListener('abort', fn, { once: true });
  let ended = false;
  return () => {
    if (ended) return;
    ended = true;
    signal.removeEventListener('abort', fn);
    allowMore(signal, -1);
  };
}

function allowMore(signal: AbortSignal, by: 1 | -1): void {
  const most = limitOf(signal);
  if (most > 0 && most + by > 0) setMaxListeners(most + by, signal);
}

/** 0 for no limit. Node 20 throws where that was set, and for signals that are not its own. */
function limitOf(signal: AbortSignal): number {
  try {
    return getMaxListeners(signal);
  } catch {
    return 0;
  }
}
