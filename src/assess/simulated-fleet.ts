// A fleet under the engine without a shard or providers: one decision after the other, every action done at once, until nothing
// changes any more. Pure.

import { decide } from '../engine/index.ts';
import { fleetOf } from '../fleet/index.ts';
import {
  CapacityType,
  DEFAULT_ECONOMY_OPTIONS,
  DEFAULT_SCORE_WEIGHTS,
  type DecisionOptions,
  dollarsOfBucket,
  type LedgerMachine,
  MachineState,
  type Need,
  type NeedKey,
  type Plan,
  type Profile,
  type Stamp,
  withoutSame,
} from '../model/index.ts';
import type { PurchasableMachines } from './purchasable-machines.ts';

const { Configured, Idle, Speculative } = MachineState;

/** Longer than the holds before an unclaimed machine is reclaimed and an Idle one is returned. */
const CYCLE_MS = 15 * 60_000;
/** Cycles after which a fleet is taken as it is; most are settled after four. */
const MAX_CYCLES = 40;

/** The options of a shard that sets none. */
const OPTIONS: DecisionOptions = {
  readyClusters: null,
  cannotBind: new Set(),
  releaseHoldSeconds: new Map([
    [CapacityType.OnDemand, 600],
    [CapacityType.Spot, 60],
  ]),
  weights: DEFAULT_SCORE_WEIGHTS,
  retiring: new Set(),
  ...DEFAULT_ECONOMY_OPTIONS,
};

export class SimulatedFleet {
  readonly #machines = new Map<string, LedgerMachine>();
  readonly #profiles = new Map<string, Profile>();
  readonly #purchasable: PurchasableMachines;
  #needs: readonly Need[] = [];
  #nowMs: number;
  #plan: Plan | null = null;
  cycles = 0;

  constructor(nowMs: number, purchasable: PurchasableMachines) {
    this.#purchasable = purchasable;
    this.#nowMs = nowMs;
  }

  add(machines: readonly LedgerMachine[]): void {
    for (const machine of machines) this.#machines.set(machine.id, machine);
  }

  /** Replaces the demand of all clusters. */
  report(needs: readonly Need[]): void {
    this.#needs = needs;
    for (const { profile } of needs)
      for (const each of [profile, withoutSame(profile)]) this.#profiles.set(each.fingerprint, each);
  }

  get machines(): Iterable<LedgerMachine> {
    return this.#machines.values();
  }

  /** The last decision. */
  get plan(): Plan | null {
    return this.#plan;
  }

  /** Decides and acts until a decision has nothing to do. `cycle` is called after each. */
  settle(cycle: () => void): void {
    for (let i = 0; i < MAX_CYCLES; i++) {
      const plan = this.#decided();
      this.#plan = plan;
      this.#carryOut(plan);
      this.#nowMs += CYCLE_MS;
      this.cycles++;
      cycle();
      if (plan.actions.length === 0 && plan.onHold.size === 0) return;
    }
  }

  /** A decision that leaves too few machines of an offering is made again with more of them. */
  #decided(): Plan {
    for (;;) {
      const input = { nowMs: this.#nowMs, machines: [...this.#machines.values()], needs: this.#needs };
      const plan = decide(fleetOf({ ...input, options: OPTIONS }), this.#nowMs, OPTIONS);
      const more = this.#purchasable.afterDecision(this.#leftBy(plan));
      if (more.length === 0) return plan;
      this.add(more);
    }
  }

  *#leftBy({ actions }: Plan): Iterable<string> {
    const used = new Set(actions.map(({ machine }) => machine));
    for (const { id, state } of this.#machines.values()) if (state === Speculative && !used.has(id)) yield id;
  }

  #carryOut({ actions, onHold, restamps }: Plan): void {
    for (const machine of this.#machines.values()) {
      const sinceMs = onHold.get(machine.id) ?? null;
      if (machine.unclaimedSinceMs !== sinceMs) this.#change(machine.id, { unclaimedSinceMs: sinceMs });
    }
    for (const [id, key] of restamps) this.#change(id, { stamp: this.#stampFor(key) });
    for (const { cluster, kind, machine: id, need } of actions) {
      const host = { provider: 'assess', ref: id };
      const free = { cluster: '', stamp: null, unclaimedSinceMs: null };
      switch (kind) {
        case 'Bootstrap':
        case 'Provision':
          this.#change(id, {
            ...{ state: Configured, host, cluster, stamp: this.#stampFor(need!) },
            ...{ target: null, idleSinceMs: null, unclaimedSinceMs: null },
          });
          break;
        case 'Preempt':
        case 'Reclaim':
          this.#change(id, { ...free, state: Idle, target: need, idleSinceMs: this.#nowMs });
          break;
        case 'Delete':
          this.#change(id, { ...free, state: Speculative, host: null, target: null, idleSinceMs: null });
          break;
      }
    }
  }

  #change(id: string, fields: Partial<LedgerMachine>): void {
    const { use: _, ...machine } = this.#machines.get(id)!;
    const use = fields.cluster === undefined ? { use: this.#machines.get(id)!.use } : {};
    this.#machines.set(id, { ...machine, ...use, ...fields });
  }

  #stampFor({ fingerprint, group }: NeedKey): Stamp | null {
    const profile = this.#profiles.get(fingerprint);
    if (profile === undefined) return null;
    return {
      ...{ fingerprint, group, priority: profile.priority },
      interruptionPenaltyDollars: dollarsOfBucket(profile.interruptionBucket),
      reclamationPenaltyDollars: dollarsOfBucket(profile.reclamationBucket),
    };
  }
}
