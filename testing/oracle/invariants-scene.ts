// What the invariants of a plan look up in its input. Used by invariants.ts and invariants-economy.ts.

import {
  type DecisionInput,
  keyOf,
  keyText,
  type LedgerMachine,
  MachineState,
  type Need,
  type Plan,
} from '../../src/model/index.ts';
import { foldKeyOf } from '../support/fleets.ts';

export type Check = (holds: boolean, text: string) => void;

/** An input of a decision, with what the checks look up in it. */
export class Scene {
  readonly input: DecisionInput;
  readonly machines: ReadonlyMap<string, LedgerMachine>;
  readonly needs: ReadonlyMap<string, Need>;
  /** Priority by key text, folds included. */
  readonly priorities: ReadonlyMap<string, number>;

  constructor(input: DecisionInput) {
    this.input = input;
    this.machines = new Map(input.machines.map((machine) => [machine.id, machine]));
    this.needs = new Map(input.needs.map((need) => [keyText(keyOf(need)), need]));
    this.priorities = new Map(
      input.needs.flatMap((need) => [
        [keyText(keyOf(need)), need.profile.priority] as const,
        [keyText(foldKeyOf(need)), need.profile.priority] as const,
      ]),
    );
  }

  machine(id: string): LedgerMachine {
    return this.machines.get(id)!;
  }

  isReported(cluster: string): boolean {
    return this.input.options.readyClusters?.has(cluster) ?? true;
  }

  /** Configured in a reported cluster and neither claimed nor picked, with a reclaim hold. */
  isOnHold(machine: LedgerMachine, plan: Plan): boolean {
    return (
      this.input.options.reclaimHoldSeconds > 0 &&
      machine.state === MachineState.Configured &&
      this.isReported(machine.cluster) &&
      !plan.claims.has(machine.id) &&
      !plan.actions.some((action) => action.kind === 'Preempt' && action.machine === machine.id)
    );
  }
}

/** Key texts of the rows whose own a machine is. */
export function ownersOf({ cluster, stamp, target }: LedgerMachine): readonly string[] {
  const owners: string[] = [];
  if (stamp !== null && cluster !== '')
    owners.push(keyText({ cluster, fingerprint: stamp.fingerprint, group: stamp.group }));
  if (target !== null) owners.push(keyText(target));
  return owners;
}
