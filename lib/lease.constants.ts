/** Injection token of the store of the default service: override it with a `MemoryLeaseStore` and no connection is opened. */
export const LEASE_STORE = 'lease:store';
/** Injection token of the validated module options of the default service. */
export const LEASE_OPTIONS = 'lease:options';

/** The name of the service when the application has only one. */
export const DEFAULT_SERVICE = 'default';

const named = (token: string, service: string): string => (service === DEFAULT_SERVICE ? token : `${token}:${service}`);

/** Injection token of the store of the service `name`. */
export const getLeaseStoreToken = (name: string = DEFAULT_SERVICE): string => named(LEASE_STORE, name);
/** Injection token of the validated module options of the service `name`. */
export const getLeaseOptionsToken = (name: string = DEFAULT_SERVICE): string => named(LEASE_OPTIONS, name);
/** Injection token of the `LeaseService` named `name`; for the default name an alias of the class `LeaseService` itself. */
export const getLeaseServiceToken = (name: string = DEFAULT_SERVICE): string => named('lease:service (import LeaseModule.forRoot())', name);
/** Injection token of the executor of the service `name`; readable, since Nest prints it when the module is missing. */
export const getLeaseExecutorToken = (name: string = DEFAULT_SERVICE): string =>
  named('lease:executor (import LeaseModule.forRoot())', name);

/** The key of the lease of a scheduled job. */
export const cronKey = (name: string): string => `cron:${name}`;

/** Injection token, for this library, of what scheduled jobs ask of the service `name`. */
export const getScheduledRunsToken = (name: string = DEFAULT_SERVICE): string => named('lease:scheduled-runs', name);

/** Reflect metadata: the `@WithLease` declaration of a method. On the wrapper function. */
export const WITH_LEASE_METADATA = 'lease:with-lease';
/** Reflect metadata: the scheduled jobs of a method. On the prototype, by method name. */
export const JOBS_METADATA = 'lease:jobs';
/** Reflect metadata: parameters filled by us. On the prototype, by method name. */
export const SLOTS_METADATA = 'lease:slots';
/** Reflect metadata: parameters named by `@LeaseKey`. On the prototype, by method name. */
export const KEY_PARTS_METADATA = 'lease:key-parts';

/** Injection token of the `LeaseEvents` of the service `name`; of the default one the class itself is a token too. */
export const getLeaseEventsToken = (name: string = DEFAULT_SERVICE): string => named('lease:events', name);
/** Injection token of the `Clock` of the service `name`. */
export const getLeaseClockToken = (name: string = DEFAULT_SERVICE): string => named('lease:clock', name);
