export { LeaseRpcExceptionFilter } from './lease-rpc-exception.filter.js';
