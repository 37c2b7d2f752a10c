import { getMaxListeners, setMaxListeners } from 'node:events';

/**
 * Calls `fn` once when `signal` aborts; the function that is returned ends it. The listener does not count towards the number
 * above which Node warns of a leak: many calls may share the signal of one request.
 */
export function onAbort(signal: AbortSignal, fn: () => void): () => void {
  const most = getMaxListeners(signal);
  // 0 means that there is no limit.
  if (most > 0) setMaxListeners(most + 1, signal);
  signal.addEventListener('abort', fn, { once: true });
  let ended = false;
  return () => {
    if (ended) return;
    ended = true;
    signal.removeEventListener('abort', fn);
    const now = getMaxListeners(signal);
    if (now > 1) setMaxListeners(now - 1, signal);
  };
}
