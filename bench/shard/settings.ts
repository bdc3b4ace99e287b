// The size of a run of `bench shard`, passed to all of its processes, and its fleet: the catalogue and shape of
// uber-50k in any size.

import type { ScaleProfile } from '../../src/demo/workload/scale-profile.ts';
import { loadProfile } from '../profiles/load.ts';

export interface Settings {
  readonly clusters: number;
  /** Needs of each cluster. */
  readonly needs: number;
  /** Machines of all providers together. */
  readonly machines: number;
  readonly providers: number;
  /** Processes that share the clusters. */
  readonly generators: number;
  /** Interval between two roll-ups of a cluster. */
  readonly intervalMs: number;
  /** Time from the start to the measurement. */
  readonly settleMs: number;
  readonly seconds: number;
  readonly seed: number;
  /** Niceness of shard and providers. Below 0 on a shared machine, if the user is permitted to. */
  readonly niceness: number;
}

/** Machines of uber-50k by state at rest, in thousands. */
const SHARES = { configured: 65, idle: 10, speculative: 150 };
const WHOLE = SHARES.configured + SHARES.idle + SHARES.speculative;

/** The fleet; each process generates the part that it needs. */
export function fleetOf({ clusters, needs, machines }: Settings): ScaleProfile {
  const configured = Math.round((machines * SHARES.configured) / WHOLE);
  const idle = Math.round((machines * SHARES.idle) / WHOLE);
  return {
    ...loadProfile('uber-50k'),
    name: 'shard',
    about: `${clusters} clusters, ${clusters * needs} Needs, ${machines} machines`,
    clusters,
    needs: clusters * needs,
    configured,
    idle,
    speculative: machines - configured - idle,
  };
}
