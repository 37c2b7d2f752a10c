import { ClusterStage } from './cluster-stage.js';
import { PrimaryStage } from './primary-stage.js';
import { QuorumStage } from './quorum-stage.js';
import { SentinelStage } from './sentinel-stage.js';
import type { Rewatch, Stage, TellAmnesia } from './stage.js';

type Start = (clients: number, amnesia: TellAmnesia, watch: Rewatch) => Promise<Stage>;

/** What `npm run chaos -- --topology` knows. */
export const STAGES = {
  primary: (...args) => PrimaryStage.start(...args),
  sentinel: (...args) => SentinelStage.start(...args),
  cluster: (...args) => ClusterStage.start(...args),
  quorum: (...args) => QuorumStage.start(...args),
} satisfies Record<string, Start>;

export type Topology = keyof typeof STAGES;
