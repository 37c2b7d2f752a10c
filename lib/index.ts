export { LeaseModule, type LeaseModuleAsyncOptions } from './lease.module.js';
export type { LeaseModuleExtras } from './lease.module-definition.js';
export type { LeaseDurability, LeaseModuleOptions, LeaseOptionsFactory } from './lease-module-options.js';
export {
  DEFAULT_SERVICE,
  getLeaseEventsToken,
  getLeaseExecutorToken,
  getLeaseServiceToken,
  getLeaseStoreToken,
  LEASE_STORE,
} from './lease.constants.js';

export { SingletonCron } from './cron/singleton-cron.decorator.js';
export { SingletonInterval } from './cron/singleton-interval.decorator.js';
export { SingletonJobs, type SingletonJob } from './cron/singleton-jobs.js';
export type {
  Misfire,
  OnCrash,
  SingletonCronOptions,
  SingletonCronTime,
  SingletonIntervalOptions,
  SingletonJobOptions,
} from './cron/singleton-options.js';

export { CurrentLease } from './decorators/current-lease.decorator.js';
export { FencingToken } from './decorators/fencing-token.decorator.js';
export { InjectLeaseService } from './decorators/inject-lease-service.decorator.js';
export { injected } from './decorators/injected.js';
export { LeaseKey } from './decorators/lease-key.decorator.js';
export type { InjectingDecorator, WrongParameterType } from './decorators/parameter.types.js';
export type { WithLeaseOptions } from './decorators/with-lease-options.js';
export { WithLease } from './decorators/with-lease.decorator.js';
export type { FinishesLater, LeasableMethod, SkipNeedsValue, WithLeaseDecorator } from './decorators/with-lease.types.js';
export { leaseKey } from './metadata/key-template.js';
export type { OnBusy, Reentry, ReturnShape } from './metadata/leased-call.js';

export type { JobClaim, RunOutcome } from './jobs/job-claim.js';
export { getLeasedJobWorkerToken, InjectLeasedJobWorker, LeaseJobsModule, type LeaseJobsFeature } from './jobs/lease-jobs.module.js';
export { LeasedJobWorker } from './jobs/leased-job-worker.js';
export type { LeasedJobWorkerOptions } from './jobs/worker-options.js';

export type { AcquireOptions } from './lease/lease-options.js';
export { Lease } from './lease/lease.js';
export { LeaseService } from './service/lease.service.js';
export type { OnceOptions } from './service/once.js';

export { EffectResultError } from './errors/effect-result.error.js';
export { EffectUncertainError, type UncertainDetails } from './errors/effect-uncertain.error.js';
export { isLeaseError, type LeaseErrorByCode } from './errors/is-lease-error.js';
export { LeaseBusyError, type BusyDetails } from './errors/lease-busy.error.js';
export type { LeaseError, LeaseErrorBody, LeaseErrorCode } from './errors/lease-error.js';
export { LeaseKeyError } from './errors/lease-key.error.js';
export { LeaseLostError, type LeaseLostReason } from './errors/lease-lost.error.js';
export { LeaseNotDurableError } from './errors/lease-not-durable.error.js';
export { LeaseOptionsError } from './errors/lease-options.error.js';
export { LeaseShutdownError } from './errors/lease-shutdown.error.js';
export { LeaseUnavailableError } from './errors/lease-unavailable.error.js';
export { StaleFencingTokenError, type StaleTokenDetails } from './errors/stale-fencing-token.error.js';

export type {
  AcquiredEvent,
  AmnesiaEvent,
  BusyEvent,
  InstantMissedEvent,
  InstantUnavailableEvent,
  JeopardyEvent,
  LeaseEvent,
  LeaseEventOf,
  LeaseEventType,
  LostEvent,
  ReleasedEvent,
  ReleaseFailedEvent,
  RunFailedEvent,
  ScheduleMismatchEvent,
  ServerClockBackEvent,
  SkippedEvent,
  StalledEvent,
  UnsettledEvent,
} from './events/lease-event.js';
export { LeaseEvents } from './events/lease-events.js';

export type {
  BeginPurpose,
  BeginReply,
  BeginRequest,
  DecidedState,
  FinishReply,
  FinishRequest,
  InstantDone,
  InstantEarly,
  InstantGranted,
  InstantHolder,
  InstantMissed,
  InstantRunning,
  InstantStore,
  RunOutcome as InstantRunOutcome,
  RunRecord,
  RunState,
} from './stores/instant-store.js';
export type {
  EffectRecord,
  EffectState,
  EffectStore,
  SettleEffectReply,
  SettleEffectRequest,
  StartEffectReply,
  StartEffectRequest,
} from './stores/effect-store.js';
export type { CoolDownReply, CoolDownRequest, FirstCandidate, FirstGranted, FirstRequest, JobStore, NoneFree } from './stores/job-store.js';
export {
  StoreError,
  type AcquireRequest,
  type AmnesiaNotice,
  type Busy,
  type Granted,
  type LeaseRecord,
  type LeaseStore,
  type LeaveRequest,
  type ReleaseRequest,
  type ReleaseResult,
  type RenewRequest,
  type RenewResult,
  type StoreCapabilities,
  type StoreErrorKind,
  type StoreErrorOptions,
  type StoreNotice,
  type StoreSubscription,
  type Wake,
} from './stores/lease-store.js';
export { QuorumLeaseStore, type QuorumLeaseStoreOptions, type QuorumNodeOption } from './quorum-lease-store.js';
export type {
  ConfirmRequest,
  ConfirmResult,
  NodeMemory,
  NodeRenewRequest,
  NodeRenewResult,
  QuorumNode,
  Recalled,
  RecallRequest,
} from './stores/quorum-node.js';
export { MemoryLeaseStore, type MemoryLeaseStoreOptions } from './stores/memory/memory-lease-store.js';
export type { RedisClientLike, RedisClusterConnection, RedisConnectionOption } from './stores/redis/connection-option.js';
export { RedisLeaseStore } from './stores/redis/redis-lease-store.js';
export type { RedisDurability, RedisLeaseStoreOptions } from './stores/redis/redis-store-options.js';
export type { Clock, ClockTimer } from './time/clock.js';
export type { Duration } from './time/duration.js';
