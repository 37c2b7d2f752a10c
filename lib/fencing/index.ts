export { REFUSED_BY_FENCE, StaleFencingTokenError, type StaleTokenDetails } from '../errors/stale-fencing-token.error.js';
export { type FencedBy } from './fenced-by.js';
export { type Fence, type FencingGuard, passFence } from './fencing-guard.js';
export { MemoryFencingGuard } from './memory-fencing-guard.js';
export { type SqlDialect, type TableName } from './sql/sql-dialect.js';
export { SqlFragment, type SqlTag } from './sql/sql-fragment.js';
export { type SqlClient, type SqlOutcome, readOutcome } from './sql/sql-client.js';
export { sqlClientOf } from './sql/known-clients.js';
export { drizzleClient, type DrizzleLike } from './sql/drizzle-client.js';
export { fenceColumns, type FenceColumnNames, type FenceColumns, type FenceColumnsOptions } from './sql/fence-columns.js';
export { type RowValues } from './sql/row-values.js';
export { explainNoRows, fencedUpdate, type FencedRow, type FencedUpdateOptions } from './sql/fenced-update.js';
export { acceptFence, SqlFencingGuard, type AcceptFenceOptions, type SqlFencingGuardOptions } from './sql/fence-table.js';
export { checkFenceColumns, fenceColumnsSql, fenceTableSql, type CheckFenceColumnsOptions } from './sql/fence-schema.js';
export { isSerializationFailure } from './sql/sql-errors.js';
export { RedisFencingGuard, type FencedScript, type RedisFencingGuardOptions } from './redis/redis-fencing-guard.js';
export { type RedisLike } from './redis/fence-key.js';
export {
  FENCING_HOLDER_HEADER,
  FENCING_KEY_HEADER,
  FENCING_TOKEN_HEADER,
  fencedByHeaders,
  fencingHeaders,
} from './http/fencing-headers.js';
export { fencedFetch, throwIfStale } from './http/fenced-fetch.js';
export { FENCING_GUARD } from './nest/fencing.constants.js';
export { Fenced, FencedRequest, fencedRequestGuard, type FencedHttpRequest, type FencedResource } from './nest/fenced-request.js';
export { FencingModule, type FencingModuleAsyncOptions, type FencingModuleOptions } from './nest/fencing.module.js';
