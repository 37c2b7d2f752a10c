import { LeaseKeyError } from '../../errors/lease-key.error.js';
import { LeaseOptionsError } from '../../errors/lease-options.error.js';

/** Everything but printable ASCII without space, braces and the escape character itself. Code unit by code unit, so that lone surrogates differ. */
const UNSAFE = /[^\x21-\x7a|]/g;
const SAFE = /^[\x21-\x7a|]*$/;
const ESCAPED = /~(?:u([0-9A-F]{4})|([0-9A-F]{2}))/g;

/** What Redis is given instead of `text`: readable where it is plain ASCII, different for different texts, without spaces and braces. */
export function escapePart(text: string): string {
  if (SAFE.test(text)) return text;
  return text.replace(UNSAFE, (unit) => {
    const code = unit.charCodeAt(0);
    const hex = code.toString(16).toUpperCase();
    return code < 0x100 ? `~${hex.padStart(2, '0')}` : `~u${hex.padStart(4, '0')}`;
  });
}

/** The text that `escapePart` was given. */
export function unescapePart(escaped: string): string {
  return escaped.replace(ESCAPED, (_, wide: string | undefined, narrow: string) => String.fromCharCode(parseInt(wide ?? narrow, 16)));
}

/** The Redis keys of one lease; they share a hash tag, so that a Cluster keeps them in one slot. */
export class LeaseKeys {
  /**
   * @param namespace prefix of every key
   * @throws LeaseOptionsError when it is empty or has braces, which would move the hash tag
   */
  constructor(readonly namespace: string) {
    if (typeof namespace !== 'string' || namespace === '' || /[{}]/.test(namespace)) {
      const shown = typeof namespace === 'string' ? `'${namespace}'` : String(namespace);
      throw new LeaseOptionsError('namespace', `The option "namespace" is ${shown}: it must be a text without braces that is not empty.`);
    }
  }

  /**
   * The key of the lease, of its fence, of the line of its waiters, and of the processes that wait.
   * @throws LeaseKeyError for an empty key
   */
  of(key: string): readonly [lease: string, fence: string, queue: string, waiters: string] {
    const [lease, fence] = this.ofHeld(key);
    return [lease, fence, `${lease}:queue`, `${lease}:waiters`];
  }

  /**
   * What matters of a lease while it is held: its key and that of its fence.
   * @throws LeaseKeyError for an empty key
   */
  ofHeld(key: string): readonly [lease: string, fence: string] {
    if (key === '') throw new LeaseKeyError('The key of a lease is empty: name what it protects, for example "job:42".', { key });
    const lease = `${this.namespace}:{${escapePart(key)}}`;
    return [lease, `${lease}:fence`];
  }

  /** Channel on which a process is told that a lease is offered to one of its waiters; completed by the name of the process. */
  get wakeChannel(): string {
    return `${this.namespace}:wake:`;
  }

  /** The same in a Cluster, where each lease has channels of its own, in its slot; scripts make it of the key of the lease. */
  wakeChannelOf(key: string): string {
    return `${this.ofHeld(key)[0]}:wake:`;
  }

  /**
   * The keys of a scheduled job: its lease, its fence, which instants it has run, and its runs.
   * @throws LeaseKeyError for an empty key
   */
  ofJob(key: string): readonly [lease: string, fence: string, record: string, runs: string] {
    const [lease, fence] = this.ofHeld(key);
    return [lease, fence, `${lease}:instants`, `${lease}:runs`];
  }

  /**
   * The keys of the effect of `once`: its lease, and what is remembered of it.
   * @throws LeaseKeyError for an empty key
   */
  ofEffect(key: string): readonly [lease: string, effect: string] {
    const [lease] = this.ofHeld(key);
    return [lease, `${lease}:effect`];
  }
}
