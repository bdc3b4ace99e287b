// The engine beside the oracle: one plan from both, or the difference. Also how a fleet that shows a fault is made
// small and saved, so that `bigfleet decide` opens it.

import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { decide } from '../../src/engine/index.ts';
import { fleetOf } from '../../src/fleet/index.ts';
import { type DecisionInput, type LedgerMachine, MachineState, type Plan } from '../../src/model/index.ts';
import { planJson, writeScenario } from '../../src/sim/index.ts';
import { planText } from '../oracle/invariants.ts';
import { decide as onOracle } from '../oracle/oracle.ts';

export function onEngine(input: DecisionInput): Plan {
  return decide(fleetOf(input), input.nowMs, input.options);
}

/** Whether engine and oracle give one plan, order of maps included. */
export function plansAgree(input: DecisionInput): boolean {
  const ours = onEngine(input);
  const theirs = onOracle(input);
  return isDeepStrictEqual(ours, theirs) && planText(ours) === planText(theirs);
}

/** The plan of both; throws where they differ. A closed loop that decides with this compares every step. */
export function onBoth(input: DecisionInput): Plan {
  const plan = onEngine(input);
  const theirs = onOracle(input);
  if (planText(plan) !== planText(theirs)) {
    throw new Error(`Engine and oracle differ.\nengine: ${planText(plan)}\noracle: ${planText(theirs)}`);
  }
  return plan;
}

/** The input with every machine and row taken out, and every oddity of a machine, that the fault does not need. */
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
  if (machine.held) choices.push({ ...machine, held: false });
  if (machine.allocatable.size > 0) {
    choices.push({ ...machine, resources: machine.allocatable, allocatable: new Map() });
  }
  if (machine.state === MachineState.Configuring && machine.cluster !== '') {
    choices.push({ ...machine, state: MachineState.Configured, target: null });
  }
  return choices;
}

/** Writes a scenario file with what engine and oracle make of it beside. */
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
