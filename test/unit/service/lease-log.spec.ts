import { describe, expect, it } from '@jest/globals';
import { logLeaseEvents } from '../../../lib/service/lease-log.js';
import { serviceRig } from '../../support/service-rig.js';
import { CapturedLog } from '../../support/nest-app.js';

describe('the log of leases', () => {
  it('tells each trouble once, in sentences with key and token, and never the secret id', async () => {
    const { service, events, store, clock } = serviceRig({ ttl: 4 });
    const log = new CapturedLog();
    logLeaseEvents(events, log);
    const lease = await service.acquire('job:1');
    store.fail('renew', new Error('ECONNRESET'), Infinity);
    await clock.advanceAsync(4000);
    const other = await service.acquire('job:2');
    store.fail('release', new Error('ETIMEDOUT'));
    await other.release();
    events.emit({ type: 'stalled', stalledMs: 900, ttlMs: 2000, safeTtlMs: 3600 });
    events.emit({ type: 'server-clock-back', byMs: 5000 });
    events.emit({ type: 'amnesia', server: 'redis:6379', reason: 'restarted', uptimeMs: 3000, pauseMs: 57_000 });
    events.emit({ type: 'amnesia', server: 'redis:6379', reason: 'promoted', uptimeMs: 90_000, pauseMs: 0 });
    events.emit({ type: 'unsettled', key: 'job:3', fencingToken: 7, heldMs: 12_000 });
    expect(log.of('warn')).toEqual([
      expect.stringMatching(/"job:1".*was not renewed \(ECONNRESET\)/),
      expect.stringMatching(/"job:1" \(fencing token \d+\) was lost \(store\)/),
      expect.stringMatching(/"job:2".*was not released.*ETIMEDOUT/),
      expect.stringMatching(/900 ms.*2000 ms.*3600 ms/),
      expect.stringMatching(/went back by 5000 ms/),
      expect.stringMatching(/redis:6379 has restarted \(up for 3000 ms\).*No lease.*57000 ms/),
      expect.stringMatching(/is a replica that was promoted.*next renewal.*amnesiaGuard/),
      expect.stringMatching(/"job:3" \(fencing token 7\).*12000 ms/),
    ]);
    for (const { text } of log.lines) for (const { holderId } of [lease, other]) expect(text).not.toContain(holderId);
  });

  it('a busy key is a debug line', async () => {
    const { service, events } = serviceRig({ holder: 'web-1' });
    const log = new CapturedLog();
    logLeaseEvents(events, log);
    await service.acquire('job:1');
    await service.tryAcquire('job:1');
    expect(log.lines).toEqual([{ level: 'debug', text: expect.stringMatching(/"job:1" is busy, held by web-1/) }]);
  });
});
