// `bench ladder --export`: writes the input of the last cycle of a rung as a scenario file. A decision on that file has
// the actions that the rung's digest was computed from, so `bigfleet decide` and other checkers can verify the plan.

import { writeFileSync } from 'node:fs';
import type { ScaleProfile } from '../../src/demo/workload/scale-profile.ts';
import type { Fleet } from '../../src/fleet/index.ts';
import { type DecisionInput, type LedgerMachine, MachineState, type Need } from '../../src/model/index.ts';
import { writeScenario } from '../../src/scenario/scenario-write.ts';
import { hostOf } from '../../testing/workload/workload-machines.ts';
import type { Rung } from './rung.ts';

/** Maximum of machines and Needs together: about 130 MB of text, which readers parse at once. */
const LARGEST_EXPORT = 400_000;

/** `lastError` of Failed machines. */
const FAILURE = 'the host stopped answering';

/** Why a rung of this profile cannot be written; null if it can. */
export function exportProblem({ name, configured, idle, speculative, needs }: ScaleProfile): string | null {
  const records = configured + idle + speculative + needs;
  if (records <= LARGEST_EXPORT) return null;
  const size = `${records.toLocaleString('en')} machines and Needs`;
  return `${name} has ${size}; at most ${LARGEST_EXPORT.toLocaleString('en')} are written to a file.`;
}

export function exportRung(rung: Rung, file: string): void {
  writeFileSync(file, writeScenario(inputOf(rung)));
}

function inputOf({ fleet, nowMs, options, workload }: Rung): DecisionInput {
  const { clusters, demand } = fleet;
  const needs: Need[] = [];
  for (let cluster = 0; cluster < workload.profile.clusters; cluster++)
    needs.push(...demand.needsOf(clusters.find(workload.clusterName(cluster))));
  const machines = [...workload.machines()].map(({ id }) => machineOf(fleet, id));
  return { nowMs, machines, needs, options };
}

/** A machine as in the ledger, with the fields that no decision reads. */
function machineOf({ machines }: Fleet, id: string): LedgerMachine {
  const record = machines.recordAt(machines.slotOf(id)!);
  const { state } = record;
  const lastError = state === MachineState.Failed ? FAILURE : '';
  return { ...record, host: hostOf(id, state), lastError, unclaimedSinceMs: null };
}
