// Compares the engine with the oracle: one plan from both, or the difference. Also shrinks a fleet that shows a fault
// and saves it as a file for `bigfleet decide`. Used by the tests of this folder and by scripts/soak-engine.ts.

import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { decide } from '../../src/engine/index.ts';
import { fleetOf } from '../../src/fleet/index.ts';
import { type DecisionInput, type LedgerMachine, MachineState, type Plan } from '../../src/model/index.ts';
import { canonicalJson, planJson } from '../../src/scenario/plan-json.ts';
import { writeScenario } from '../../src/scenario/scenario-write.ts';
import { decide as onOracle } from '../../testing/oracle/oracle.ts';

export function onEngine(input: DecisionInput): Plan {
  return decide(fleetOf(input), input.nowMs, input.options);
}

/** How the plans of engine and oracle differ, order of maps included; null: they are equal. */
export function difference(input: DecisionInput): string | null {
  const engine = outcomeOf(onEngine, input);
  const oracle = outcomeOf(onOracle, input);
  if (isDeepStrictEqual(engine, oracle)) return null;
  return `engine: ${canonicalJson(engine)}\noracle: ${canonicalJson(oracle)}`;
}

function outcomeOf(decider: (input: DecisionInput) => Plan, input: DecisionInput): unknown {
  try {
    const { claims, restamps, retargets, onHold, verdicts, ...plan } = decider(input);
    const listed = verdicts.map((verdict) => ({
      ...verdict,
      deficit: [...verdict.deficit],
      shares: verdict.shares.map(({ machine, amount }) => ({ machine, amount: [...amount] })),
    }));
    const maps = [claims, restamps, retargets, onHold].map((map) => [...map]);
    return { ...plan, verdicts: listed, maps };
  } catch (error) {
    return String(error);
  }
}

/** The plan of both; throws where they differ. A closed loop that decides with this compares every step. */
export function onBoth(input: DecisionInput): Plan {
  const differs = difference(input);
  if (differs !== null) throw new Error(`The plans differ.\n${differs}`);
  return onEngine(input);
}

/** The input without the machines, rows and oddities of machines that the fault does not need. */
export function smallest(input: DecisionInput, fails: (input: DecisionInput) => boolean): DecisionInput {
  let best = input;
  const accept = (next: DecisionInput): boolean => {
    if (!fails(next)) return false;
    best = next;
    return true;
  };
  let smaller = true;
  while (smaller) {
    smaller = false;
    for (let i = best.machines.length - 1; i >= 0; i--) {
      smaller = accept({ ...best, machines: best.machines.toSpliced(i, 1) }) || smaller;
    }
    for (let i = best.needs.length - 1; i >= 0; i--) {
      smaller = accept({ ...best, needs: best.needs.toSpliced(i, 1) }) || smaller;
    }
    for (let i = 0; i < best.machines.length; i++) {
      for (const plainer of plainerThan(best.machines[i]!)) {
        smaller = accept({ ...best, machines: best.machines.with(i, plainer) }) || smaller;
      }
    }
  }
  return best;
}

function plainerThan(machine: LedgerMachine): readonly LedgerMachine[] {
  const choices: LedgerMachine[] = [];
  if (machine.target !== null) choices.push({ ...machine, target: null });
  if (machine.stamp !== null) choices.push({ ...machine, stamp: null });
  if (machine.labels.size > 0) choices.push({ ...machine, labels: new Map() });
  if (machine.blocked) choices.push({ ...machine, blocked: false });
  if (machine.allocatable.size > 0) {
    choices.push({ ...machine, resources: machine.allocatable, allocatable: new Map() });
  }
  if (machine.state === MachineState.Configuring && machine.cluster !== '') {
    choices.push({ ...machine, state: MachineState.Configured, target: null });
  }
  return choices;
}

/** Writes a scenario file, and beside it the plans of engine and oracle. */
export function saveScenario(file: string, input: DecisionInput): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, writeScenario(input));
  for (const [name, decider] of [
    ['engine', onEngine],
    ['oracle', onOracle],
  ] as const) {
    try {
      writeFileSync(`${file}.${name}`, JSON.stringify(planJson(decider(input), input), null, 2));
    } catch (error) {
      writeFileSync(`${file}.${name}`, `${name} failed: ${String(error)}`);
    }
  }
}
