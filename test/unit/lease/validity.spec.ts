import { describe, expect, it } from '@jest/globals';
import { Stamper, Validity } from '../../../lib/lease/validity.js';
import { ManualClock } from '../../../lib/testing/manual-clock.js';

const HOUR = 3_600_000;

function validity(ttlMs: number, clock = new ManualClock()): { clock: ManualClock; stamper: Stamper; valid: Validity } {
  const stamper = new Stamper(clock);
  return { clock, stamper, valid: new Validity(clock, stamper.stamp(), ttlMs) };
}

describe('Validity', () => {
  it('is held before two thirds of the ttl, counted from when the request left, and expired from there on', () => {
    const { clock, valid } = validity(3000);
    clock.advance(1999);
    expect(valid.judge()).toBe('held');
    clock.advance(1);
    expect(valid.judge()).toBe('expired');
  });

  it('counts the remaining time to the ttl less 1 % and 2 ms', () => {
    const { clock, valid } = validity(10_000);
    expect(valid.remainingMs()).toBe(9898);
    clock.advance(9000);
    expect(valid.remainingMs()).toBe(898);
    clock.advance(2000);
    expect(valid.remainingMs()).toBe(0);
  });

  it('moves its deadlines by an acknowledged request, from when that left', () => {
    const { clock, stamper, valid } = validity(3000);
    clock.advance(1000);
    const sent = stamper.stamp();
    clock.advance(900);
    valid.confirm(sent, 3000);
    clock.advance(1099);
    expect(valid.judge()).toBe('held');
    clock.advance(1);
    expect(valid.judge()).toBe('expired');
  });

  it('never moves a deadline back: neither for a late answer nor for a shorter ttl', () => {
    const { clock, stamper, valid } = validity(60_000);
    const early = stamper.stamp();
    clock.advance(1000);
    valid.confirm(stamper.stamp(), 60_000);
    valid.confirm(early, 60_000);
    valid.confirm(stamper.stamp(), 500);
    expect(valid.softInMs()).toBe(40_000);
    expect(valid.remainingMs()).toBe(59_398);
  });

  it('is suspect when only the wall clock has passed the soft deadline and the machine was suspended', () => {
    const { clock, valid } = validity(30_000);
    clock.suspend(HOUR);
    expect(valid.judge()).toBe('suspect');
    expect(valid.remainingMs()).toBe(0);
  });

  it('is suspect when only the wall clock has passed it and the system does not tell of suspends', () => {
    const { clock, valid } = validity(30_000, new ManualClock({ tellsSuspended: false }));
    clock.stepWall(HOUR);
    expect(valid.judge()).toBe('suspect');
  });

  it('takes no notice of a wall clock that was stepped forward or back where the system says that it did not sleep', () => {
    for (const step of [HOUR, -HOUR]) {
      const { clock, valid } = validity(30_000);
      clock.stepWall(step);
      expect(valid.judge()).toBe('held');
      expect(valid.remainingMs()).toBe(29_698);
      clock.advance(20_000);
      expect(valid.judge()).toBe('expired');
    }
  });

  it('still sees a suspend after the wall clock was stepped', () => {
    const { clock, valid } = validity(30_000);
    clock.stepWall(HOUR);
    expect(valid.judge()).toBe('held');
    clock.suspend(25_000);
    expect(valid.judge()).toBe('suspect');
  });

  it('does not miss a suspend that fell between the last reading of the uptime and the request', () => {
    const clock = new ManualClock();
    const stamper = new Stamper(clock);
    stamper.stamp();
    clock.suspend(HOUR);
    const valid = new Validity(clock, stamper.stamp(), 30_000);
    clock.suspend(HOUR);
    expect(valid.judge()).toBe('suspect');
  });
});
