// What a cycle found beyond its claims: unmet rows, domains of gangs, hosted members of folds, restamps and the picks
// of Phase 2. Cleared when the next cycle begins, except for restamps of clusters that are not served again. A table of
// `Cycle`, read by verdicts and the plan.

import { ColumnGroup, type ReadonlyColumns } from '../collections/table.ts';
import type { Unmet } from './unmet.ts';
import type { GangView } from './views.ts';

/** The result as other files see it. */
export type CycleResultView = ReadonlyColumns<CycleResult>;

export class CycleResult {
  #unmet: Unmet[] = [];
  #gangs = new Map<number, GangView>();
  #hosted = new Map<number, number>();
  #unhosted = new Map<number, number[]>();
  #restamped: number[] = [];
  #infeasible: number[] = [];
  readonly #settledRestamps = new Map<number, readonly number[]>();
  readonly #blockers = new Map<number, number>();
  readonly #retargets = new Map<number, number>();
  /** Slots that were picked, so that resetting them does not scan the column. */
  #picks: number[] = [];

  readonly bySlot = new ColumnGroup(this);
  /** 1 if Phase 2 picked the machine. Only as long as needed for the machines when Phase 2 began. */
  readonly picked = this.bySlot.u8();

  /** Rows that Phase 1 left short, in the order they were served. */
  get unmet(): readonly Unmet[] {
    return this.#unmet;
  }

  /** By ranked row: the choice of a gang that had to choose a domain. */
  get gangs(): ReadonlyMap<number, GangView> {
    return this.#gangs;
  }

  /** By fold that could not host all its members: the number of hosted members. */
  get hosted(): ReadonlyMap<number, number> {
    return this.#hosted;
  }

  /** By cluster: ranked rows of members that their folds could not host, in the order they are served. */
  get unhosted(): ReadonlyMap<number, readonly number[]> {
    return this.#unhosted;
  }

  /** By explained ranked row: the last ranked row before it that claimed a machine it could have used. */
  get blockers(): ReadonlyMap<number, number> {
    return this.#blockers;
  }

  /** Bound machines that a gang or a lender claims without their stamp naming it; those of a row in claim order. */
  allRestamped(): number[] {
    return [...this.#restamped, ...[...this.#settledRestamps.values()].flat()];
  }

  /** By slot of a machine that drains for a row which is gone: the ranked row that it drains for from now on. */
  get retargets(): ReadonlyMap<number, number> {
    return this.#retargets;
  }

  retarget(slot: number, rankedRow: number): void {
    this.#retargets.set(slot, rankedRow);
  }

  /** Gangs of the pass that no domain could hold. */
  get infeasible(): readonly number[] {
    return this.#infeasible;
  }

  addInfeasible(gang: number): void {
    this.#infeasible.push(gang);
  }

  /** Machines that gangs of the pass restamp. */
  get restampedInPass(): readonly number[] {
    return this.#restamped;
  }

  addUnmet(unmet: Unmet): void {
    this.#unmet.push(unmet);
  }

  /** Replaces the unmet rows by a list that also has rows that are set aside, or that other lanes served. */
  replaceUnmet(unmet: Unmet[]): void {
    this.#unmet = unmet;
  }

  chooseDomain(gang: number, choice: GangView): void {
    this.#gangs.set(gang, choice);
  }

  setHosted(fold: number, members: number): void {
    this.#hosted.set(fold, members);
  }

  addUnhosted(cluster: number, rankedRow: number): void {
    const others = this.#unhosted.get(cluster);
    if (others === undefined) this.#unhosted.set(cluster, [rankedRow]);
    else others.push(rankedRow);
  }

  setBlocker(explained: number, blocker: number): void {
    this.#blockers.set(explained, blocker);
  }

  /** Records machines that a row of the pass restamps. */
  addRestamped(slots: readonly number[]): void {
    for (const slot of slots) this.#restamped.push(slot);
  }

  /** Records all machines that rows of a cluster restamp which were covered before the pass. */
  settleRestamps(cluster: number, slots: readonly number[]): void {
    if (slots.length === 0) this.#settledRestamps.delete(cluster);
    else this.#settledRestamps.set(cluster, slots);
  }

  /** Prepares Phase 2 over this number of slots. */
  reservePicks(size: number): void {
    this.bySlot.reserve(size);
  }

  pick(slot: number): void {
    this.picked[slot] = 1;
    this.#picks.push(slot);
  }

  unpick(slot: number): void {
    this.picked[slot] = 0;
  }

  clear(): void {
    for (const slot of this.#picks) this.picked[slot] = 0;
    this.#picks = [];
    this.#unmet = [];
    this.#gangs = new Map();
    this.#hosted = new Map();
    this.#unhosted = new Map();
    this.#restamped = [];
    this.#infeasible = [];
    this.#retargets.clear();
  }
}
