import { describe, expect, it } from '@jest/globals';
import { Amnesia } from '../../../../lib/stores/redis/amnesia.js';
import { Greeter } from '../../../../lib/stores/redis/greeter.js';
import { Notices } from '../../../../lib/stores/redis/notices.js';
import type { RedisClient } from '../../../../lib/stores/redis/redis-client.js';
import { ManualClock } from '../../../../lib/testing/manual-clock.js';

const INFO = 'run_id:a\r\nmaster_replid:A\r\nuptime_in_seconds:100\r\nrole:master\r\n';

class ReplyError extends Error {
  override readonly name = 'ReplyError';
}

/** A client whose answers are told; it counts what it was asked. */
function rig(
  answers: { info?: () => string; config?: () => unknown; wait?: () => unknown },
  durable = false,
): {
  greeter: Greeter;
  client: RedisClient;
  clock: ManualClock;
  warnings: string[];
  asked: string[];
  close: () => void;
} {
  const [clock, notices, warnings, asked, closers] = [
    new ManualClock(),
    new Notices(),
    [] as string[],
    [] as string[],
    [] as (() => void)[],
  ];
  notices.on((notice) => notice.kind === 'warning' && warnings.push(notice.message));
  const answer = (name: string, reply: () => unknown) => (): Promise<unknown> => {
    asked.push(name);
    return new Promise((resolve) => resolve(reply()));
  };
  const client = {
    options: { host: 'h', port: 1 },
    info: answer('info', answers.info ?? (() => INFO)),
    config: answer('config', answers.config ?? (() => ['maxmemory-policy', 'noeviction'])),
    wait: answer('wait', answers.wait ?? (() => 0)),
    on: (event: string, listener: () => void) => event === 'close' && closers.push(listener),
  } as unknown as RedisClient;
  const greeter = new Greeter(clock, notices, new Amnesia(clock, notices, undefined), durable);
  return { greeter, client, clock, warnings, asked, close: () => closers.forEach((closed) => closed()) };
}

const refuse = (message: string) => (): never => {
  throw new ReplyError(message);
};

describe('the greeting of a connection', () => {
  it('asks once for each connection, whoever waits for it', async () => {
    const { greeter, client, asked, close } = rig({ info: () => `${INFO}maxmemory_policy:noeviction\r\n` });
    await Promise.all([greeter.greet(client), greeter.greet(client)]);
    await greeter.greet(client);
    expect(asked).toEqual(['info']);
    close();
    await greeter.greet(client);
    expect(asked).toEqual(['info', 'info']);
  });

  it.each([
    ['a list', ['maxmemory-policy', 'volatile-lru']],
    ['a map', { 'maxmemory-policy': 'volatile-lru' }],
  ])('asks CONFIG for the policy where INFO does not tell it, and reads %s', async (_, reply) => {
    const { greeter, client, warnings } = rig({ config: () => reply });
    await greeter.greet(client);
    await new Promise((resolve) => setImmediate(resolve));
    expect(warnings).toEqual([expect.stringMatching(/h:1 has maxmemory-policy volatile-lru/)]);
  });

  it.each([
    "NOPERM this user has no permissions to run the 'config|get' command",
    "ERR unknown command 'CONFIG'",
    'ERR command is not allowed',
  ])('where CONFIG is refused, too, that is one warning (%s)', async (message) => {
    const { greeter, client, warnings, close } = rig({ config: refuse(message) });
    for (let i = 0; i < 2; i++) {
      await greeter.greet(client);
      await new Promise((resolve) => setImmediate(resolve));
      close();
    }
    expect(warnings).toEqual([expect.stringMatching(/refuses CONFIG/)]);
  });

  it('waits for a server that reads its data', async () => {
    let loading = 1;
    const { greeter, client, clock, asked } = rig({ info: () => `${INFO}maxmemory_policy:noeviction\r\nloading:${String(loading)}\r\n` });
    let greeted = false;
    const greeting = greeter.greet(client).then(() => (greeted = true));
    await clock.advanceAsync(250);
    expect([greeted, asked.length]).toEqual([false, 3]);
    loading = 0;
    await clock.advanceAsync(100);
    await greeting;
  });

  it('is over where INFO says too little, with one warning', async () => {
    const { greeter, client, warnings } = rig({ info: () => 'redis_version:7.0\r\n' });
    await greeter.greet(client);
    expect(warnings).toEqual([expect.stringMatching(/does not say in INFO which server it is/)]);
  });

  it('fails where a password is missing, or the connection breaks, and is tried again by the next who asks', async () => {
    let info = refuse('NOAUTH Authentication required.') as () => string;
    const { greeter, client } = rig({ info: () => info() });
    await expect(greeter.greet(client)).rejects.toThrow('NOAUTH');
    info = () => {
      throw new Error('Connection is closed.');
    };
    await expect(greeter.greet(client)).rejects.toThrow('closed');
    info = () => `${INFO}maxmemory_policy:noeviction\r\n`;
    await greeter.greet(client);
  });

  it('finds out whether WAIT may be asked, where it is needed', async () => {
    let wait: () => unknown = refuse("ERR unknown command 'WAIT'");
    const { greeter, client, close } = rig({ wait: () => wait() }, true);
    await greeter.greet(client);
    expect(greeter.refusesWait(client)).toContain("unknown command 'WAIT'");
    close();
    wait = () => 0;
    await greeter.greet(client);
    expect(greeter.refusesWait(client)).toBeUndefined();
  });
});
