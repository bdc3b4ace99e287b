// The actions of a plan, in columns of numbers: a cold fleet has about one for every machine it uses. They are resolved to
// names on access.

import { withRoom } from '../collections/columns.ts';
import { type Action, MachineState, RECLAIM_GRACE_SECONDS } from '../model/index.ts';
import { NONE } from './assign/ranked-rows.ts';
import type { Cycle } from './cycle.ts';
import type { Preemption } from './preempt/preempt.ts';

/** Kind and reason of an action; the number of a sort is its index here. */
const SORTS = [
  { kind: 'Bootstrap', reason: 'phase1.idle' },
  { kind: 'Provision', reason: 'phase1.speculative' },
  { kind: 'Preempt', reason: 'phase2.excess' },
  { kind: 'Preempt', reason: 'phase2.inversion' },
  { kind: 'Reclaim', reason: 'phase3.excess' },
  { kind: 'Delete', reason: 'phase3.release' },
] as const satisfies readonly Pick<Action, 'kind' | 'reason'>[];
const Sort = { Bind: 0, Buy: 1, TakeExcess: 2, TakeOver: 3, Reclaim: 4, Release: 5 } as const;
type Sort = (typeof Sort)[keyof typeof Sort];

/** Phase 1 by rank, inside a row by claim order; Preempts by rank and pick order; Reclaims; Deletes. */
export class Actions {
  readonly #cycle: Cycle;
  #sorts = new Uint8Array(0);
  #slots = new Uint32Array(0);
  /** The ranked row that the machine is for; NONE if it is for none. */
  #rankedRows = new Int32Array(0);
  #graces = new Float64Array(0);
  count = 0;

  constructor(cycle: Cycle) {
    this.#cycle = cycle;
  }

  /** Replaces the actions of the previous cycle with those of this one. */
  collect(
    preemptions: ReadonlyMap<number, Preemption>,
    leaving: readonly number[],
    released: readonly number[],
  ): void {
    const { claims, pass } = this.#cycle;
    this.count = 0;
    for (let place = 0; place < pass.count; place++) {
      const rankedRow = pass.rankedRow[place]!;
      if (!this.#cycle.canBind(rankedRow)) continue;
      const to = place + 1 < pass.count ? pass.from[place + 1]! : claims.count;
      this.#acquire(rankedRow, pass.from[place]!, to);
    }
    for (const [rankedRow, { picks }] of preemptions) {
      for (const { slot, graceSeconds, excess } of picks) {
        this.#add(excess ? Sort.TakeExcess : Sort.TakeOver, slot, rankedRow, graceSeconds);
      }
    }
    for (const slot of leaving) this.#add(Sort.Reclaim, slot, NONE, RECLAIM_GRACE_SECONDS);
    for (const slot of released) this.#add(Sort.Release, slot, NONE, 0);
  }

  /** Adds the Idle and Speculative machines among the claims of a ranked row in the pass; its earlier credits are bound. */
  #acquire(rankedRow: number, from: number, to: number): void {
    const { claims, fleet } = this.#cycle;
    const { state } = fleet.machines;
    for (let i = from; i < to; i++) {
      const slot = claims.slots[i]!;
      if (state[slot] === MachineState.Idle) this.#add(Sort.Bind, slot, rankedRow, 0);
      else if (state[slot] === MachineState.Speculative) this.#add(Sort.Buy, slot, rankedRow, 0);
    }
  }

  #add(sort: Sort, slot: number, rankedRow: number, grace: number): void {
    const at = this.count++;
    if (at === this.#sorts.length) this.#reserve(this.count);
    this.#sorts[at] = sort;
    this.#slots[at] = slot;
    this.#rankedRows[at] = rankedRow;
    this.#graces[at] = grace;
  }

  #reserve(needed: number): void {
    this.#sorts = withRoom(this.#sorts, needed);
    this.#slots = withRoom(this.#slots, needed);
    this.#rankedRows = withRoom(this.#rankedRows, needed);
    this.#graces = withRoom(this.#graces, needed);
  }

  get counts(): Record<Action['kind'], number> {
    const counts = { Bootstrap: 0, Provision: 0, Preempt: 0, Reclaim: 0, Delete: 0 };
    for (let i = 0; i < this.count; i++) counts[SORTS[this.#sorts[i]!]!.kind]++;
    return counts;
  }

  /** Action number `i`, with its names resolved. */
  at(i: number): Action {
    const { rankedRows } = this.#cycle;
    const { clusters, demand, keys, machines } = this.#cycle.fleet;
    const { kind, reason } = SORTS[this.#sorts[i]!]!;
    const slot = this.#slots[i]!;
    const rankedRow = this.#rankedRows[i]!;
    const need = rankedRow === NONE ? null : keys.keyOf(rankedRows.key[rankedRow]!);
    const leaves = kind === 'Preempt' || kind === 'Reclaim';
    return {
      kind,
      machine: machines.idOf(slot),
      cluster: leaves ? clusters.nameOf(machines.cluster[slot]!) : (need?.cluster ?? ''),
      reason,
      graceSeconds: this.#graces[i]!,
      preemptorPriority:
        kind === 'Preempt' ? demand.profiles.entryOf(rankedRows.profile[rankedRow]!).profile.priority : 0,
      need,
    };
  }
}
