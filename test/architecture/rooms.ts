/**
 * Who may import whom. A room is a folder of lib/. What stands behind a
 * room is all that its files may import of lib/, besides the leaves; `foreign` is all that they may import of packages (Node's own modules always may be).
 */
export interface Room {
  /** Rooms whose every file may be imported. */
  readonly rooms?: readonly string[];
  /** Single files of further rooms: the port, a type, a token. */
  readonly files?: readonly string[];
  /** Packages. */
  readonly foreign?: readonly string[];
}

/** What a store promises, and the parts of it for scheduled jobs, for `once`, for job workers, and for a quorum; how its errors are read, and what is left behind taken back. */
const PORT = [
  ...['stores/lease-store', 'stores/instant-store', 'stores/effect-store', 'stores/job-store', 'stores/quorum-node'],
  ...['stores/to-store-error', 'stores/take-backs'],
];
const nest = ['@nestjs/common', '@nestjs/core'];

/** Leaves that every room may use (a leaf: `time` uses `errors`, `errors` uses nothing). */
export const leaves: readonly string[] = ['errors', 'time'];

export const rooms: Readonly<Record<string, Room>> = {
  errors: { foreign: ['@nestjs/common'] },
  time: { rooms: ['errors'] },
  events: {},
  fencing: {},
  'fencing/nest': { rooms: ['fencing'], foreign: [...nest, 'rxjs'] },
  stores: {},
  'stores/memory': { files: PORT },
  'stores/redis': { files: PORT, foreign: ['ioredis'] },
  'stores/quorum': { files: PORT },
  lease: { rooms: ['events'], files: PORT, foreign: ['lru-cache'] },
  service: { rooms: ['events', 'lease'], files: [...PORT, 'lease.constants'], foreign: nest },
  execution: { rooms: ['events', 'lease', 'service'], files: ['lease.constants', 'metadata/leased-call'], foreign: [...nest, 'rxjs'] },
  metadata: { files: ['lease.constants', 'lease/lease-options'], foreign: [...nest, 'rxjs', 'reflect-metadata'] },
  decorators: { rooms: ['metadata'], files: ['lease.constants', 'lease/lease-options'], foreign: [...nest, 'rxjs'] },
  discovery: { rooms: ['metadata'], files: ['lease.constants'], foreign: [...nest, 'reflect-metadata'] },
  cron: {
    rooms: ['events', 'metadata'],
    files: ['lease.constants', 'lease/lease', 'lease/lease-options', 'lease/scheduled-instant', 'discovery/wrappers'],
    foreign: [...nest, '@nestjs/schedule', 'cron-parser', 'reflect-metadata'],
  },
  jobs: { rooms: ['lease', 'service'], files: ['lease.constants'], foreign: nest },
  microservices: { foreign: [...nest, 'rxjs', '@nestjs/microservices'] },
  websockets: { foreign: [...nest, 'rxjs', '@nestjs/websockets'] },
};

/** These put the rooms together and may import all of lib/: the files of lib/ itself (as the room `.`), and the shipped test kit. */
export const composers: Readonly<Record<string, readonly string[]>> = {
  '.': [...nest, 'ioredis', 'rxjs', 'reflect-metadata'],
  testing: nest,
};
