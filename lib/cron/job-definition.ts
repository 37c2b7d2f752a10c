import { LeaseOptionsError } from '../errors/lease-options.error.js';
import { nearestName } from '../errors/nearest-name.js';
import { cronKey, DEFAULT_SERVICE } from '../lease.constants.js';
import { parseDuration, type Duration } from '../time/duration.js';
import { parseMaxHold, parseTtl } from '../time/lease-durations.js';
import { cronSchedule } from './instant/cron-schedule.js';
import type { InstantSchedule } from './instant/instant-schedule.js';
import { intervalSchedule } from './instant/interval-schedule.js';
import type { SingletonCronOptions, SingletonCronTime, SingletonIntervalOptions, SingletonJobOptions } from './singleton-options.js';

/** A scheduled job as it was declared, checked. Times are in milliseconds. */
export interface JobDefinition {
  /** For messages: `@SingletonCron`. */
  readonly decorator: string;
  readonly name: string;
  readonly key: string;
  readonly service: string;
  readonly schedule: InstantSchedule;
  readonly ttl: Duration | undefined;
  readonly maxHold: Duration | undefined;
  readonly ttlMs: number | undefined;
  readonly maxHoldMs: number | undefined;
  readonly atLeastForMs: number;
  readonly rerun: boolean;
  readonly makeUp: boolean;
  readonly misfireWindowMs: number;
  /** A wake-up later than this counts as a misfire. */
  readonly lateMs: number;
  /** How long the store remembers the job after its last use. */
  readonly lifeMs: number;
  readonly initialDelayMs: number;
  readonly disabled: boolean;
  /** What `@nestjs/schedule` is told. */
  readonly trigger: CronTrigger | IntervalTrigger;
}

/** As `@Cron` has it. */
export interface CronTrigger {
  readonly kind: 'cron';
  readonly expression: string | Date;
  readonly options: SingletonCronOptions;
}
/** As `@Interval` has it. */
export interface IntervalTrigger {
  readonly kind: 'interval';
  readonly everyMs: number;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const LATE_MS = 60_000;
/** `setInterval` fires at once beyond 24.8 days. */
const EVERY = { stringOnly: true, minMs: 100, maxMs: 24 * DAY_MS };
const COMMON = ['name', 'ttl', 'maxHold', 'misfire', 'misfireWindow', 'onCrash', 'atLeastFor', 'service', 'disabled'];
const OF_CRON = [...COMMON, 'waitForCompletion', 'unrefTimeout', 'threshold', 'initialDelay', 'timeZone', 'utcOffset'];

/** @throws LeaseOptionsError */
export function defineCron(decorator: string, time: SingletonCronTime, options: SingletonCronOptions): JobDefinition {
  checkNames(decorator, options, OF_CRON);
  const expression = typeof time === 'object' && 'toJSDate' in time ? time.toJSDate() : time;
  const schedule = cronSchedule(expression, options);
  const { threshold, initialDelay } = options;
  return {
    ...define(decorator, schedule, options),
    lateMs: threshold === undefined ? LATE_MS : milliseconds('threshold', threshold),
    initialDelayMs: initialDelay === undefined ? 0 : milliseconds('initialDelay', initialDelay),
    trigger: { kind: 'cron', expression, options },
  };
}

/** @throws LeaseOptionsError */
export function defineInterval(decorator: string, every: string, options: SingletonIntervalOptions): JobDefinition {
  checkNames(decorator, options, COMMON);
  const everyMs = parseDuration('every', every, EVERY);
  return { ...define(decorator, intervalSchedule(everyMs), options), trigger: { kind: 'interval', everyMs } };
}

function define(decorator: string, schedule: InstantSchedule, options: SingletonJobOptions): Omit<JobDefinition, 'trigger'> {
  const { ttl, maxHold, misfireWindow = '1h', atLeastFor = 0, service = DEFAULT_SERVICE, disabled = false } = options;
  const name = checkName(decorator, options.name);
  const misfireWindowMs = parseDuration('misfireWindow', misfireWindow, { maxMs: 366 * DAY_MS });
  return {
    ...{ decorator, name, key: cronKey(name), service, schedule, ttl, maxHold, misfireWindowMs, disabled },
    ttlMs: ttl === undefined ? undefined : parseTtl(ttl),
    maxHoldMs: maxHold === undefined ? undefined : parseMaxHold(maxHold),
    atLeastForMs: parseDuration('atLeastFor', atLeastFor, { zero: true, maxMs: DAY_MS }),
    rerun: oneOf('onCrash', options.onCrash, ['skip', 'rerun']) === 'rerun',
    makeUp: oneOf('misfire', options.misfire, ['skip', 'run-once']) === 'run-once',
    lateMs: LATE_MS,
    initialDelayMs: 0,
    lifeMs: Math.max(25 * HOUR_MS, 2 * schedule.longestGapMs() + misfireWindowMs),
  };
}

function checkNames(decorator: string, options: unknown, known: readonly string[]): void {
  if (typeof options !== 'object' || options === null) {
    throw new LeaseOptionsError('name', `${decorator} has no options: give it a name of its own, such as { name: 'nightly-report' }.`);
  }
  for (const name of Object.keys(options)) {
    if (known.includes(name)) continue;
    const near = nearestName(name, known);
    const hint = near ? `did you mean "${near}"?` : `it has ${known.join(', ')}.`;
    throw new LeaseOptionsError(name, `${decorator} has no option "${name}": ${hint}`);
  }
}

function checkName(decorator: string, name: unknown): string {
  if (typeof name === 'string' && name.trim() !== '') return name;
  const shown = name === undefined ? 'missing' : typeof name === 'string' ? 'empty' : `a ${typeof name}, not a string`;
  throw new LeaseOptionsError(
    'name',
    `The option "name" of ${decorator} is ${shown}: give each job a name of its own, the same on every replica and in every build, such as { name: 'nightly-report' }.`,
  );
}

function milliseconds(option: string, value: unknown): number {
  if (typeof value === 'number' && Number.isFinite(value) && value >= 0) return value;
  throw new LeaseOptionsError(option, `The option "${option}" is ${String(value)}: as for @Cron, give milliseconds, 0 or more.`);
}

function oneOf(option: string, value: unknown, allowed: readonly string[]): unknown {
  if (value === undefined || allowed.includes(value as string)) return value;
  const shown = typeof value === 'string' ? `'${value}'` : `a ${typeof value}`;
  throw new LeaseOptionsError(option, `The option "${option}" is ${shown}: it must be ${allowed.map((one) => `'${one}'`).join(' or ')}.`);
}
