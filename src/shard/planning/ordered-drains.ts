// Machines that a person has ordered to be drained. They are marked as retiring for the decision, so that their row acquires
// others first; once no row claims them their reclaim hold counts as over, and they leave by the ordinary path, under every
// guardrail. In memory only, as marks of renewals are: a restart forgets the orders, and their machines are used as before.
// Made by controller.ts; orders.ts adds and removes, cycles.ts and machine-view.ts read.

import { excerpt, isBound, MachineState, sameTermOf, strictSpreadOf } from '../../model/index.ts';
import type { ControllerState } from './controller.ts';

interface OrderedDrain {
  readonly who: string;
  readonly why: string;
  /** Shard clock. */
  readonly sinceMs: number;
}

/** Orders at a time: each adds to the options of every decision. */
const MAX_DRAINS = 1_000;

export class OrderedDrains {
  readonly #byMachine = new Map<string, OrderedDrain>();
  #marks: ReadonlySet<string> = new Set();
  /** What `#marks` was made from. */
  #renewing: ReadonlySet<string> | null = null;

  of(machine: string): OrderedDrain | undefined {
    return this.#byMachine.get(machine);
  }

  get machines(): readonly string[] {
    return [...this.#byMachine.keys()];
  }

  /** False: there are `MAX_DRAINS` already. */
  add(machine: string, drain: OrderedDrain): boolean {
    if (this.#byMachine.size >= MAX_DRAINS) return false;
    this.#byMachine.set(machine, drain);
    this.#renewing = null;
    return true;
  }

  remove(machine: string): boolean {
    this.#renewing = null;
    return this.#byMachine.delete(machine);
  }

  /** These machines and those of renewals; another set only if one of both has changed. */
  marksWith(renewing: ReadonlySet<string>): ReadonlySet<string> {
    if (this.#byMachine.size === 0) return renewing;
    if (this.#renewing !== renewing) this.#marks = new Set([...renewing, ...this.#byMachine.keys()]);
    this.#renewing = renewing;
    return this.#marks;
  }
}

/** Why a machine cannot be drained on order; null if it can. */
export function drainObstacle(
  { ledger, profiles, actuation, drains }: ControllerState,
  machine: string,
): string | null {
  const name = `Machine ${excerpt(machine)}`;
  const status = ledger.statusOf(machine);
  if (status === null) return `There is no machine ${excerpt(machine)}.`;
  const known = drains.of(machine);
  if (known !== undefined) return `${name} is to be drained already, as ${excerpt(known.who)} ordered.`;
  if (status.state !== MachineState.Configured)
    return `${name} is not Configured: there is nothing to drain.`;
  const block = actuation.blockOf(machine);
  if (block !== null)
    return `${name} is kept out of decisions (${excerpt(block.why)}); "bigfleet retry" ends that.`;
  const { cluster, stamp } = status;
  const key = stamp === null ? null : { cluster, fingerprint: stamp.fingerprint, group: stamp.group };
  const profile = key === null ? undefined : profiles.of(key);
  if (profile !== undefined && sameTermOf(profile) !== undefined)
    return `${name} serves a gang, which is in one domain as a whole: no machine can be replaced by itself.`;
  if (profile !== undefined && strictSpreadOf(profile) !== undefined)
    return `${name} serves a Need that is spread over domains, which moves as a whole.`;
  return null;
}

/** Ends orders whose machines have left, at the begin of a cycle. Returns those that were carried out. */
export function settleDrains({ drains, ledger }: ControllerState): readonly string[] {
  return drains.machines.filter((machine) => {
    const state = ledger.statusOf(machine)?.state;
    return (state === undefined || !isBound(state)) && drains.remove(machine);
  });
}
