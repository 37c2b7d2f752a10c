import { describe, expect, it } from '@jest/globals';
import { InjectLeaseService } from '../../../lib/decorators/inject-lease-service.decorator.js';
import { LeaseKey } from '../../../lib/decorators/lease-key.decorator.js';
import { WithLease } from '../../../lib/decorators/with-lease.decorator.js';
import { getLeaseServiceToken } from '../../../lib/lease.constants.js';

const declare = (options: unknown, key = 'job'): unknown => WithLease(key, options as Record<string, never>);

describe('the options of @WithLease are checked where it stands (murlock, redlock: a bad ttl was reported as busy)', () => {
  it.each([0, -1, 0.0001, Number.NaN, Number.POSITIVE_INFINITY, '60', '60 sec', null, {}, 1e21, 2 ** 53, 5000, 0.05, '2d', true])(
    'refuses the ttl %p',
    (ttl) => {
      expect(() => declare({ ttl })).toThrow(expect.objectContaining({ code: 'LEASE_OPTIONS_INVALID', option: 'ttl' }));
    },
  );

  it.each([
    ['wait', -1],
    ['wait', '25h'],
    ['maxHold', 0],
    ['maxHold', '8d'],
    ['onBusy', 'ignore'],
    ['onBusy', null],
    ['reentry', true],
    ['returns', 'promise'],
    ['service', ''],
    ['service', 7],
  ])('refuses %s: %p, naming both', (option, value) => {
    const shown = value === '' ? "''" : String(value);
    expect(() => declare({ [option]: value })).toThrow(expect.objectContaining({ code: 'LEASE_OPTIONS_INVALID', option }));
    expect(() => declare({ [option]: value })).toThrow(shown);
  });

  it.each([
    ['TTL', 'ttl'],
    ['ttlMs', 'ttl'],
    ['maxhold', 'maxHold'],
    ['waitMs', 'wait'],
    ['skipVal', 'skipValue'],
    ['on_busy', 'onBusy'],
  ])('refuses the unknown option %s and suggests %s', (typed, meant) => {
    expect(() => declare({ [typed]: 1 })).toThrow(`no option "${typed}": did you mean "${meant}"?`);
  });

  it('lists the options when it has no suggestion', () => {
    expect(() => declare({ expireAfterMilliseconds: 1 })).toThrow(/no option "expireAfterMilliseconds": it has ttl, wait, maxHold/);
  });

  it.each([null, 60, '60s', [], () => undefined])('refuses %p for options', (options) => {
    expect(() => declare(options)).toThrow(expect.objectContaining({ code: 'LEASE_OPTIONS_INVALID', option: 'options' }));
  });

  it('refuses a skipValue that would never be used', () => {
    expect(() => declare({ skipValue: 1 })).toThrow(/add onBusy: 'skip'/);
    expect(() => declare({ onBusy: 'skip', skipValue: undefined })).not.toThrow();
  });

  it('takes everything that is allowed, and undefined for left out', () => {
    expect(() => declare(undefined)).not.toThrow();
    expect(() =>
      declare({ ttl: '500ms', wait: 0, maxHold: '7d', onBusy: 'throw', reentry: 'error', service: 'billing', returns: 'iterable' }),
    ).not.toThrow();
    expect(() =>
      declare({
        ttl: undefined,
        wait: undefined,
        maxHold: undefined,
        onBusy: undefined,
        reentry: undefined,
        service: undefined,
        returns: undefined,
      }),
    ).not.toThrow();
  });

  it('refuses a template that cannot be read', () => {
    expect(() => declare({}, '')).toThrow(/empty/);
    expect(() => declare({}, 'job:<id')).toThrow(/no partner/);
  });

  it.each([undefined, null, 7, {}, []])('refuses the key %p', (key) => {
    expect(() => {
      (WithLease(key as string) as MethodDecorator)({ constructor: class Jobs {} }, 'run', { value: () => undefined });
    }).toThrow(expect.objectContaining({ code: 'LEASE_OPTIONS_INVALID', option: 'key' }));
  });
});

describe('@LeaseKey', () => {
  it.each(['', 'a.b', '<id>', undefined, 7])('refuses the name %p', (name) => {
    expect(() => LeaseKey(name as string)).toThrow(expect.objectContaining({ code: 'LEASE_OPTIONS_INVALID' }));
  });
});

describe('@InjectLeaseService', () => {
  it('asks Nest for the service of that name', () => {
    class Jobs {
      constructor(
        readonly one: unknown,
        readonly other: unknown,
      ) {}
    }
    (InjectLeaseService('billing') as ParameterDecorator)(Jobs, undefined, 1);
    (InjectLeaseService() as ParameterDecorator)(Jobs, undefined, 0);
    expect(Reflect.getMetadata('self:paramtypes', Jobs)).toEqual([
      { index: 1, param: getLeaseServiceToken('billing') },
      { index: 0, param: getLeaseServiceToken() },
    ]);
  });
});
