export { LeaseWsExceptionFilter } from './lease-ws-exception.filter.js';
