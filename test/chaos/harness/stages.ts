import { PrimaryStage } from './primary-stage.js';
import type { Rewatch, Stage, TellAmnesia } from './stage.js';

type Start = (clients: number, amnesia: TellAmnesia, watch: Rewatch) => Promise<Stage>;

/** What `npm run chaos -- --topology` knows. */
export const STAGES = {
  primary: (...args) => PrimaryStage.start(...args),
} satisfies Record<string, Start>;

export type Topology = keyof typeof STAGES;
