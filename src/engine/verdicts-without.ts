// Verdicts as they are if some machines that the plan acquires are not acquired: the shard's ceiling on spending stops
// purchases after the decision, so rows that count on them, by claim or by share, are not met. Called by engine.ts.

import type { UnmetDetail, UnmetReason, Verdict } from '../model/index.ts';
import { NONE, RowKind } from './assign/ranked-rows.ts';
import type { Cycle } from './cycle.ts';
import { needsOf, Takings } from './takings.ts';

/** Verdicts of a decision without some of its machines. */
export interface VerdictsWithout {
  /** Verdicts on the Needs that are not met, by rank. */
  readonly unmet: readonly Verdict[];
  /** Verdicts on all Needs that count on one of the machines, by rank. */
  readonly changed: readonly Verdict[];
}

/** `unmet` are the verdicts on unmet Needs in rank order; `verdictsOn` returns those on the Needs of a ranked row, in order. */
export function verdictsWithout(
  cycle: Cycle,
  machines: ReadonlySet<string>,
  reason: UnmetReason,
  unmet: readonly Verdict[],
  verdictsOn: (rankedRow: number) => readonly Verdict[],
): VerdictsWithout {
  const without = new Without(cycle, machines, reason);
  const { losses } = without;
  const rest = cycle.result.unmet.flatMap(({ rankedRow }, i) =>
    losses.has(rankedRow) ? [] : [{ rankedRow, verdicts: [unmet[i]!] }],
  );
  const changed = [...losses.keys()].map((rankedRow) => {
    return { rankedRow, verdicts: without.verdicts(rankedRow, verdictsOn(rankedRow)) };
  });
  const byRank = (a: { readonly rankedRow: number }, b: typeof a): number =>
    cycle.rankedRows.compare(a.rankedRow, b.rankedRow);
  const all = [...rest, ...changed].sort(byRank).flatMap(({ verdicts }) => verdicts);
  return {
    unmet: all.filter(({ satisfied }) => !satisfied),
    changed: changed.sort(byRank).flatMap(({ verdicts }) => verdicts),
  };
}

/** What a ranked row that counts on machines which are not acquired lacks without them. */
export interface LossOfRow {
  /** Of the Needs that it serves, those that are not met. */
  readonly unmetNeeds: number;
  /** By dimension; of a fold, what each of these Needs lacks. */
  readonly deficit: Float64Array;
}

/** By ranked row that claims a slot of `without` or shares in it, in no order. */
export function lossesOf(cycle: Cycle, without: ReadonlySet<number>): ReadonlyMap<number, LossOfRow> {
  const { claims, fleet, rankedRows, unfilled } = cycle;
  const losses = new Map<number, LossOfRow>();
  const clusters = new Set<number>();
  for (const slot of without) {
    const claimant = claims.claimedBy[slot]! - 1;
    if (claimant !== NONE) clusters.add(rankedRows.cluster[claimant]!);
  }
  const takings = new Takings(cycle, without);
  let [current, isFold, hasLost] = [NONE, false, false];
  const visitor = {
    begin: (rankedRow: number) => {
      current = rankedRow;
      isFold = rankedRows.kind[rankedRow] === RowKind.Fold;
      hasLost = false;
      cycle.beginUnfilled(rankedRow);
    },
    take: (slot: number, amount: Float64Array, isShare: boolean) => {
      if (without.has(slot)) {
        hasLost = true;
        return;
      }
      const c = fleet.machines.classOf[slot]!;
      if (isFold) unfilled.take(c, true);
      else unfilled.takePart(amount, isShare || cycle.patternOf(current).fits(c));
    },
    end: (rankedRow: number) => {
      if (!hasLost) return;
      if (!isFold) {
        losses.set(rankedRow, { unmetNeeds: unfilled.covered ? 0 : 1, deficit: unfilled.deficit() });
        return;
      }
      const needs = needsOf(cycle, rankedRow);
      const unhosted = rankedRows.members[rankedRow]! - needs;
      const from = rankedRows.row[rankedRow]! * fleet.dimensions.stride;
      losses.set(rankedRow, {
        unmetNeeds: Math.max(0, unfilled.gangsLeft - unhosted),
        deficit: fleet.demand.aggregate.data.slice(from, from + fleet.dimensions.count),
      });
    },
  };
  for (const cluster of clusters) takings.visit(cluster, 'open', visitor);
  return losses;
}

class Without {
  readonly #cycle: Cycle;
  readonly #ids: ReadonlySet<string>;
  readonly #reason: UnmetReason;
  readonly losses: ReadonlyMap<number, LossOfRow>;

  constructor(cycle: Cycle, ids: ReadonlySet<string>, reason: UnmetReason) {
    this.#cycle = cycle;
    this.#ids = ids;
    this.#reason = reason;
    this.losses = lossesOf(cycle, new Set([...ids].map((id) => cycle.fleet.machines.slotOf(id)!)));
    cycle.fittingMachines.refresh();
  }

  /** The verdicts on the Needs of a ranked row, without the machines. */
  verdicts(rankedRow: number, verdicts: readonly Verdict[]): readonly Verdict[] {
    const kept = verdicts.map((verdict) => this.#kept(verdict));
    const { unmetNeeds, deficit } = this.losses.get(rankedRow)!;
    const missing = this.#cycle.fleet.dimensions.vectorOf(deficit, 0);
    // Members of a fold come in the order in which they are hosted; the first ones keep the machines that are left.
    const met = kept.length - unmetNeeds;
    return kept.map((verdict, i) => (i < met ? verdict : this.#unmet(rankedRow, verdict, missing)));
  }

  #kept(verdict: Verdict): Verdict {
    const isKept = (id: string): boolean => !this.#ids.has(id);
    return {
      ...verdict,
      claimed: verdict.claimed.filter(isKept),
      shares: verdict.shares.filter(({ machine }) => isKept(machine)),
      provisions: verdict.provisions.filter(isKept),
      bootstraps: verdict.bootstraps.filter(isKept),
    };
  }

  #unmet(rankedRow: number, verdict: Verdict, deficit: Verdict['deficit']): Verdict {
    const { fittingMachines, rankedRows } = this.#cycle;
    const pattern = rankedRows.pattern[rankedRow]!;
    const unmet: UnmetDetail = verdict.unmet ?? {
      reason: this.#reason,
      matching: fittingMachines.matching(pattern),
      fitting: fittingMachines.fitting(pattern),
      blocker: null,
      extraSupply: null,
    };
    return { ...verdict, satisfied: false, deficit, unmet: { ...unmet, reason: this.#reason } };
  }
}
