// The actions of a plan, in columns of numbers: a cold fleet has about one for every machine it uses. They are resolved
// to names on access. A table of `Cycle`, filled at the end of a decision and read by the `Decision` of engine.ts.

import { ColumnGroup } from '../collections/table.ts';
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
  #count = 0;

  readonly byPlace = new ColumnGroup(this);
  readonly sort = this.byPlace.u8();
  readonly slot = this.byPlace.u32();
  /** The ranked row that the machine is for; NONE if it is for none. */
  readonly rankedRow = this.byPlace.i32();
  readonly graceSeconds = this.byPlace.f64();

  constructor(cycle: Cycle) {
    this.#cycle = cycle;
  }

  /** Replaces the actions of the previous cycle with those of this one. */
  collect(
    preemptions: ReadonlyMap<number, Preemption>,
    leaving: readonly number[],
    released: readonly number[],
  ): void {
    const { claims, credits, pass } = this.#cycle;
    this.#count = 0;
    for (let place = 0; place < pass.count; place++) {
      const rankedRow = pass.rankedRow[place]!;
      if (!this.#cycle.canBind(rankedRow)) continue;
      // Credits from before the pass are bound machines.
      if (claims.creditStart[rankedRow]! >= credits.end)
        this.#acquire(rankedRow, claims.creditStart[rankedRow]!, claims.creditEnd[rankedRow]!);
      this.#acquire(rankedRow, claims.laterStart[rankedRow]!, claims.laterEnd[rankedRow]!);
    }
    for (const [rankedRow, { picks }] of preemptions) {
      for (const { slot, graceSeconds, excess } of picks) {
        this.#add(excess ? Sort.TakeExcess : Sort.TakeOver, slot, rankedRow, graceSeconds);
      }
    }
    for (const slot of leaving) this.#add(Sort.Reclaim, slot, NONE, RECLAIM_GRACE_SECONDS);
    for (const slot of released) this.#add(Sort.Release, slot, NONE, 0);
  }

  /** Adds the Idle and Speculative machines among some claims of a ranked row. */
  #acquire(rankedRow: number, from: number, to: number): void {
    const { slots } = this.#cycle.claims;
    const { state } = this.#cycle.fleet.machines;
    for (let i = from; i < to; i++) {
      const slot = slots[i]!;
      if (state[slot] === MachineState.Idle) this.#add(Sort.Bind, slot, rankedRow, 0);
      else if (state[slot] === MachineState.Speculative) this.#add(Sort.Buy, slot, rankedRow, 0);
    }
  }

  #add(sort: Sort, slot: number, rankedRow: number, graceSeconds: number): void {
    const at = this.#count++;
    if (at === this.sort.length) this.byPlace.reserve(this.#count);
    this.sort[at] = sort;
    this.slot[at] = slot;
    this.rankedRow[at] = rankedRow;
    this.graceSeconds[at] = graceSeconds;
  }

  get count(): number {
    return this.#count;
  }

  get counts(): Record<Action['kind'], number> {
    const counts = { Bootstrap: 0, Provision: 0, Preempt: 0, Reclaim: 0, Delete: 0 };
    for (let i = 0; i < this.#count; i++) counts[SORTS[this.sort[i]!]!.kind]++;
    return counts;
  }

  /** Action number `i`, with its names resolved. */
  at(i: number): Action {
    const { rankedRows } = this.#cycle;
    const { clusters, demand, keys, machines } = this.#cycle.fleet;
    const { kind, reason } = SORTS[this.sort[i]!]!;
    const slot = this.slot[i]!;
    const rankedRow = this.rankedRow[i]!;
    const need = rankedRow === NONE ? null : keys.keyOf(rankedRows.key[rankedRow]!);
    const leaves = kind === 'Preempt' || kind === 'Reclaim';
    return {
      kind,
      machine: machines.idOf(slot),
      cluster: leaves ? clusters.nameOf(machines.cluster[slot]!) : (need?.cluster ?? ''),
      reason,
      graceSeconds: this.graceSeconds[i]!,
      preemptorPriority:
        kind === 'Preempt' ? demand.profiles.entryOf(rankedRows.profile[rankedRow]!).profile.priority : 0,
      need,
    };
  }
}
