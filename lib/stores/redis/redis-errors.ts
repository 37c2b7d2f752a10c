import { StoreError, type StoreErrorKind } from '../lease-store.js';

/**
 * Replies and errors that no retry can mend: a wrong or missing password, a missing permission, a command or database that
 * the server does not have, a script that does not run there. A code may stand at the beginning, or inside the message of a
 * script error of Redis 6.
 */
const FATAL = [
  /\b(NOAUTH|WRONGPASS|NOPERM|CROSSSLOT|NOPROTO)\b/,
  /The user executing the script can't run this command/,
  /ERR (invalid password|unknown command|unknown subcommand|syntax error|invalid DB index|DB index is out of range)/i,
  /ERR (Error compiling script|wrong number of arguments|SELECT is not allowed|This instance has cluster support disabled)/i,
  /Script attempted to access nonexistent global/,
];

/** Text of whatever was thrown; inside Jest and across copies of ioredis `instanceof` tells nothing. */
export function messageOf(error: unknown): string {
  return typeof error === 'object' && error !== null && 'message' in error ? String(error.message) : String(error);
}

/** The errors that may tell more than the one at the top: a Cluster without a node says why in `lastNodeError`. */
function* related(error: unknown): Generator {
  yield error;
  if (typeof error === 'object' && error !== null && 'lastNodeError' in error && error.lastNodeError) yield error.lastNodeError;
}

/** Whether Redis itself answered: a reply that is an error is an answer. */
export function isReply(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'name' in error && error.name === 'ReplyError';
}

/**
 * How an error of ioredis or a reply of Redis is to be taken. Everything that is not known to be final is transient: resets,
 * timeouts, NOSCRIPT, LOADING, READONLY, TRYAGAIN, MOVED, ASK, BUSY, CLUSTERDOWN, MASTERDOWN, MISCONF, NOREPLICAS, OOM.
 */
export function kindOf(error: unknown): StoreErrorKind {
  for (const one of related(error)) {
    const message = messageOf(one);
    if (/\bWRONGTYPE\b/.test(message)) return 'foreign';
    if (FATAL.some((pattern) => pattern.test(message))) return 'fatal';
  }
  return 'transient';
}

/** The error of the port for whatever went wrong here; one that is already of the port stays itself. */
export function toStoreError(error: unknown): StoreError {
  if (error instanceof StoreError) return error;
  const kind = kindOf(error);
  const texts = [...related(error)].map(messageOf);
  const text = texts.join(': ');
  if (kind === 'fatal') return new StoreError(kind, `Redis refuses to be asked: ${text}`, { cause: error });
  const lost = !isReply(error) && /max retries per request|connection is closed|ECONNRESET/i.test(text);
  const detail = lost ? 'the connection to Redis broke before the answer came' : `Redis could not be asked: ${text}`;
  return new StoreError(kind, detail, { cause: error });
}

/** A command that this user may not run, or that this service does not have; it would be refused the next time too. */
export function isRefused(error: unknown): boolean {
  return isReply(error) && REFUSED.test(messageOf(error));
}

const REFUSED =
  /\bNOPERM\b|can't run this command|unknown (sub)?command|command\b.* (is )?(not|never) (allowed|supported|available|permitted)|disabled/i;

/** What only a node of a Cluster answers, to a client that takes it for the whole of Redis: another node has the key, or several have the keys. */
export function isOneOfMany(error: unknown): boolean {
  return isReply(error) && /^(MOVED|ASK|CROSSSLOT)\b/.test(messageOf(error));
}

/** The error for it: no retry can mend that. */
export function oneOfManyError(error: unknown): StoreError {
  const remedy = 'give { cluster: { nodes: [{ host, port }, ...] } }, or a ready Cluster of ioredis';
  return new StoreError('fatal', `the option "connection" leads to a single node of a Redis Cluster (${messageOf(error)}): ${remedy}`, {
    cause: error,
  });
}

/** True where the server is a replica: the client has to find the new primary. */
export function isReadOnly(error: unknown): boolean {
  return messageOf(error).includes('READONLY');
}
