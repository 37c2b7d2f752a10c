/** Path of a `redis-server` program; see the `.mjs` file. */
export function findRedisServer(): string;
