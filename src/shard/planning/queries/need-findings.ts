// The part of the explanation of a Need that the engine finds: what keeps which machines from it. Found on the ledger by
// answers.ts or, for a large fleet, on a replica of it by process/fleet-replica.ts; need-obstacles.ts adds what only the
// controller knows.

import { examine } from '../../../engine/index.ts';
import type { Fleet } from '../../../fleet/index.ts';
import {
  type DecisionOptions,
  type Explanation,
  MachineState,
  type Need,
  type NeedKey,
  type ObstacleCause,
  type Verdict,
} from '../../../model/index.ts';

export interface NeedFindings {
  readonly need: Need;
  /** Of the same decision as all the other findings. */
  readonly verdict: Verdict;
  readonly explanation: Explanation;
  /** Failed machines that meet its requirements. */
  readonly failedByZone: ReadonlyMap<string, number>;
  /** Ids of machines of which the controller knows more; of too many a part from all over the fleet. */
  readonly ids: Readonly<Record<DetailedCause, readonly string[]>>;
}

/** Causes of which the controller knows more about each machine; `own` without machines that have arrived. */
type DetailedCause = Extract<ObstacleCause, 'failed' | 'blocked'> | 'own';

export interface FindHooks {
  /** Most ids by cause; by default all. */
  readonly maxIds?: number;
  /** Called often: a caller that shares its cores waits in it. */
  readonly pause?: () => void;
}

/** Machines that are visited between two pauses: less than a millisecond. */
const VISITED_AT_ONCE = 4096;

/** null: no cluster reports the Need. */
export function findingsOn(
  fleet: Fleet,
  { atMs, options }: { readonly atMs: number; readonly options: DecisionOptions },
  key: NeedKey,
  { maxIds = Number.POSITIVE_INFINITY, pause = () => {} }: FindHooks = {},
): NeedFindings | null {
  const { classes, machines } = fleet;
  const samples = { own: new Sample(maxIds), failed: new Sample(maxIds), blocked: new Sample(maxIds) };
  const failedByClass = new Map<number, number>();
  let visited = 0;
  const visit = (slot: number, cause: ObstacleCause | 'own'): void => {
    if (++visited % VISITED_AT_ONCE === 0) pause();
    if (cause === 'blocked') samples.blocked.add(slot);
    else if (cause === 'own' && machines.state[slot] !== MachineState.Configured) samples.own.add(slot);
    else if (cause === 'failed') {
      samples.failed.add(slot);
      const classNumber = machines.classOf[slot]!;
      failedByClass.set(classNumber, (failedByClass.get(classNumber) ?? 0) + 1);
    }
  };
  const need = fleet.demand.needOf(key);
  const found = examine(fleet, atMs, options, key, { visit, pause });
  if (need === undefined || found === null) return null;
  const failedByZone = new Map<string, number>();
  for (const [classNumber, count] of failedByClass) {
    const { zone } = classes.factsOf(classNumber);
    failedByZone.set(zone, (failedByZone.get(zone) ?? 0) + count);
  }
  const idsOf = ({ slots }: Sample): readonly string[] => slots.map((slot) => machines.idOf(slot));
  const ids = { own: idsOf(samples.own), failed: idsOf(samples.failed), blocked: idsOf(samples.blocked) };
  return { need, ...found, failedByZone, ids };
}

/** Every n-th of the slots that are added, so that machines of all parts of the fleet are among them. */
class Sample {
  slots: number[] = [];
  readonly #most: number;
  #added = 0;
  #step = 1;

  constructor(most: number) {
    this.#most = most;
  }

  add(slot: number): void {
    if (this.#added++ % this.#step !== 0) return;
    this.slots.push(slot);
    if (this.slots.length <= this.#most) return;
    this.slots = this.slots.filter((_, i) => i % 2 === 0);
    this.#step *= 2;
  }
}
