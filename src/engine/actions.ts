// The actions of a plan, in columns of numbers: a cold fleet has about one for every machine it uses. They are resolved
// to names on access. A table of `Cycle`, filled at the end of a decision and read by the `Decision` of engine.ts.

import { ColumnGroup } from '../collections/table.ts';
import { type Action, MachineState, RECLAIM_GRACE_SECONDS } from '../model/index.ts';
import type { ClaimRange } from './assign/claims.ts';
import { NONE } from './assign/ranked-rows.ts';
import { isFreeState } from './candidates/class-availability.ts';
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
    this.#count = 0;
    this.#collectAcquired();
    for (const [rankedRow, { picks }] of preemptions) {
      for (const { slot, graceSeconds, excess } of picks) {
        this.#add(excess ? Sort.TakeExcess : Sort.TakeOver, slot, rankedRow, graceSeconds);
      }
    }
    for (const slot of leaving) this.#add(Sort.Reclaim, slot, NONE, RECLAIM_GRACE_SECONDS);
    for (const slot of released) this.#add(Sort.Release, slot, NONE, 0);
  }

  /**
   * Adds the Idle and Speculative machines among the claims of the pass; credits from before it are bound machines. Each lane
   * claims such machines in rank order, so that nothing is read of rows that claim none.
   */
  #collectAcquired(): void {
    const { claims, credits } = this.#cycle;
    const ranges = claims.ofPass(credits.end);
    if (ranges.length === 1) this.#collectInOrder(ranges[0]!);
    else this.#collectFromLanes(ranges);
  }

  #collectInOrder({ from, to }: ClaimRange): void {
    const { claimedBy, slots } = this.#cycle.claims;
    const { state } = this.#cycle.fleet.machines;
    for (let i = from; i < to; i++) {
      const slot = slots[i]!;
      if (!isFreeState(state[slot])) continue;
      const rankedRow = claimedBy[slot]! - 1;
      if (!this.#cycle.canBind(rankedRow)) continue;
      this.#add(state[slot] === MachineState.Idle ? Sort.Bind : Sort.Buy, slot, rankedRow, 0);
    }
  }

  /** The rows of the pass tell which lane has the next machines. */
  #collectFromLanes(ranges: readonly ClaimRange[]): void {
    const { pass } = this.#cycle;
    const lanes = ranges.map((range) => new AcquiredClaims(this.#cycle, range));
    for (let place = 0; place < pass.count; place++) {
      const rankedRow = pass.rankedRow[place]!;
      for (const lane of lanes) {
        for (; lane.claimant === rankedRow; lane.advance()) {
          if (!this.#cycle.canBind(rankedRow)) continue;
          this.#add(lane.isIdle ? Sort.Bind : Sort.Buy, lane.slot, rankedRow, 0);
        }
      }
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

/** Walks the Idle and Speculative machines among the claims of one lane. */
class AcquiredClaims {
  readonly #cycle: Cycle;
  readonly #to: number;
  #next: number;
  slot = NONE;
  /** The ranked row that claims the machine; NONE at the end. */
  claimant = NONE;

  constructor(cycle: Cycle, { from, to }: ClaimRange) {
    this.#cycle = cycle;
    this.#next = from;
    this.#to = to;
    this.advance();
  }

  advance(): void {
    const { claimedBy, slots } = this.#cycle.claims;
    const { state } = this.#cycle.fleet.machines;
    this.claimant = NONE;
    while (this.claimant === NONE && this.#next < this.#to) {
      this.slot = slots[this.#next++]!;
      if (isFreeState(state[this.slot])) this.claimant = claimedBy[this.slot]! - 1;
    }
  }

  get isIdle(): boolean {
    return this.#cycle.fleet.machines.state[this.slot] === MachineState.Idle;
  }
}
