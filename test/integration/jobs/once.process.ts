import { Redis } from 'ioredis';
import { startHolder } from '../../support/holder.js';

/** What it does: an effect that is counted in Redis, and then it stands still. */
export interface OnceProcessOptions {
  readonly url: string;
  readonly key: string;
  /** Where it stands still: after the effect, so that nothing was recorded; or after the record. */
  readonly hang: 'after-effect' | 'after-record';
}

const { url, key, hang } = JSON.parse(process.argv[2] as string) as OnceProcessOptions;
const tell = (message: { type: string } & Record<string, unknown>): void => void process.send?.(message);
const redis = new Redis(url);
const { service } = startHolder({ connection: url, holder: 'child', namespace: 'once' });

async function main(): Promise<void> {
  const effect = async (): Promise<number> => {
    const count = await redis.incr(`effects:${key}`);
    tell({ type: 'effect' });
    if (hang === 'after-effect') await new Promise(() => undefined);
    return count;
  };
  const result = await service.once(key, effect, { keepFor: '1h', ttl: '1s' });
  tell({ type: 'recorded', result });
}

main().catch((error: unknown) => tell({ type: 'failed', error: String(error) }));
