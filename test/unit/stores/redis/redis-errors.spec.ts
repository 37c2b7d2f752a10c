import { describe, expect, it } from '@jest/globals';
import { StoreError } from '../../../../lib/stores/lease-store.js';
import { isReadOnly, kindOf, toStoreError } from '../../../../lib/stores/redis/redis-errors.js';

const reply = (message: string): Error => Object.assign(new Error(message), { name: 'ReplyError' });

describe('kindOf', () => {
  it.each([
    'NOAUTH Authentication required.',
    'WRONGPASS invalid username-password pair or user is disabled.',
    'ERR invalid password',
    "NOPERM this user has no permissions to run the 'evalsha' command",
    'NOPERM User lease has no permissions to access one of the keys used as arguments',
    "ERR The user executing the script can't run this command or subcommand script: 0d5a, on @user_script:3.",
    "ERR Error running script (call to f_1): @user_script:1: -NOPERM this user has no permissions to run the 'set' command",
    "ERR unknown command 'EVALSHA', with args beginning with: ",
    'ERR Error compiling script (new function): user_script:1: unexpected symbol',
    'ERR syntax error',
    'ERR DB index is out of range',
    "CROSSSLOT Keys in request don't hash to the same slot",
  ])('is fatal for %s', (message) => {
    expect(kindOf(reply(message))).toBe('fatal');
    expect(toStoreError(reply(message)).message).toContain('refuses');
  });

  it.each([
    'NOSCRIPT No matching script. Please use EVAL.',
    'LOADING Redis is loading the dataset in memory',
    "READONLY You can't write against a read only replica.",
    'TRYAGAIN Multiple keys request during rehashing of slot',
    'MOVED 3999 127.0.0.1:6381',
    'ASK 3999 127.0.0.1:6381',
    'BUSY Redis is busy running a script.',
    'CLUSTERDOWN The cluster is down',
    "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.",
    'MISCONF Redis is configured to save RDB snapshots',
    'NOREPLICAS Not enough good replicas to write.',
    "OOM command not allowed when used memory > 'maxmemory'.",
    'UNKILLABLE Sorry the script already executed write commands',
    'ERR max number of clients reached',
    'ERR Error running script: Script killed by user with SCRIPT KILL...',
    'Connection is closed.',
    'Command timed out',
    'connect ECONNREFUSED 127.0.0.1:6379',
    'read ECONNRESET',
    'getaddrinfo ENOTFOUND redis',
    'Reached the max retries per request limit (which is 0). Refer to "maxRetriesPerRequest" option for details.',
  ])('is transient for %s', (message) => {
    expect(kindOf(reply(message))).toBe('transient');
  });

  it('is foreign for a value of another type', () => {
    expect(kindOf(reply('WRONGTYPE Operation against a key holding the wrong kind of value'))).toBe('foreign');
  });

  it('looks at the node that made a Cluster give up', () => {
    const error = Object.assign(new Error('Failed to refresh slots cache.'), { lastNodeError: reply('NOAUTH Authentication required.') });
    expect(kindOf(error)).toBe('fatal');
    expect(toStoreError(error).message).toContain('NOAUTH');
  });

  it.each([undefined, null, 'text', 7])('takes %j for transient', (thrown) => {
    expect(toStoreError(thrown)).toMatchObject({ name: 'StoreError', kind: 'transient' });
  });
});

describe('toStoreError', () => {
  it('leaves an error of the port as it is, and keeps any other as its cause', () => {
    const own = new StoreError('floor', 'x');
    expect(toStoreError(own)).toBe(own);
    const cause = reply('OOM command not allowed');
    expect(toStoreError(cause).cause).toBe(cause);
  });
});

describe('isReadOnly', () => {
  it('sees it inside the error of a script, as Redis 6 writes it', () => {
    expect(
      isReadOnly(reply("ERR Error running script (call to f_1): @user_script:1: -READONLY You can't write against a read only replica.")),
    ).toBe(true);
    expect(isReadOnly(reply('OOM'))).toBe(false);
  });
});
