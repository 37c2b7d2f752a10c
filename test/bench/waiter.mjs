import { leaseService } from './subjects.mjs';

/** A process whose calls wait for one lease, and give it back as soon as they have it. */
const { url } = JSON.parse(process.argv[2]);
const { service, store } = leaseService(url);
/** Of the clock that all processes of a machine share; `performance.timeOrigin` differs between them on a busy one. */
const at = () => Number(process.hrtime.bigint()) / 1e6;
const served = [];
let gaveUp = 0;
let open = 0;

async function wait(id, key, keep) {
  try {
    const lease = await service.acquire(key, { ttl: keep ? 1 : 30, wait: '1h' });
    const grantedAt = at();
    if (keep) return;
    const releasedAt = at();
    served.push({ id, token: lease.fencingToken, grantedAt, releasedAt });
    await lease.release();
  } catch {
    gaveUp += 1;
  } finally {
    open -= 1;
    if (open === 0) process.send({ type: 'idle' });
  }
}

process.on('message', ({ type, ids, key, keep }) => {
  if (type === 'wait') {
    open += ids.length;
    for (const id of ids) void wait(id, key, keep);
  } else if (type === 'report') process.send({ type: 'report', served: served.splice(0), gaveUp });
  else void store.close().then(() => process.exit(0));
});
await service.inspect('warm-up');
process.send({ type: 'ready' });
