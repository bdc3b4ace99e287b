// Verdicts as they are if some machines that the plan acquires are not acquired: the shard's ceiling on spending stops
// purchases after the decision, so rows that count on them, by claim or by share, are not met. Called by engine.ts.

import type { UnmetDetail, UnmetReason, Verdict } from '../model/index.ts';
import { NONE, RowKind } from './assign/ranked-rows.ts';
import { hostedGangs } from './assign/unfilled.ts';
import type { Cycle } from './cycle.ts';

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
  const affected = without.affectedRows();
  const rest = cycle.result.unmet.flatMap(({ rankedRow }, i) =>
    affected.has(rankedRow) ? [] : [{ rankedRow, verdicts: [unmet[i]!] }],
  );
  const changed = [...affected].map((rankedRow) => {
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

class Without {
  readonly #cycle: Cycle;
  readonly #ids: ReadonlySet<string>;
  readonly #slots = new Set<number>();
  readonly #reason: UnmetReason;

  constructor(cycle: Cycle, ids: ReadonlySet<string>, reason: UnmetReason) {
    this.#cycle = cycle;
    this.#ids = ids;
    this.#reason = reason;
    for (const id of ids) this.#slots.add(cycle.fleet.machines.slotOf(id)!);
    cycle.fittingMachines.refresh();
  }

  /** Ranked rows that claim one of the machines or share in it. */
  affectedRows(): Set<number> {
    const { claims, rankedRows, sharing } = this.#cycle;
    const affected = new Set<number>();
    for (const slot of this.#slots) {
      const claimant = claims.claimedBy[slot]! - 1;
      if (claimant !== NONE) affected.add(claimant);
    }
    if (!sharing.isActive) return affected;
    for (const cluster of new Set([...affected].map((rankedRow) => rankedRows.cluster[rankedRow]!))) {
      for (let rankedRow = rankedRows.start[cluster]!; rankedRow < rankedRows.end[cluster]!; rankedRow++)
        if (sharing.sharesOf(rankedRow).some(({ slot }) => this.#slots.has(slot))) affected.add(rankedRow);
    }
    return affected;
  }

  /** The verdicts on the Needs of a ranked row, without the machines. */
  verdicts(rankedRow: number, verdicts: readonly Verdict[]): readonly Verdict[] {
    const kept = verdicts.map((verdict) => this.#kept(verdict));
    if (this.#cycle.rankedRows.kind[rankedRow] === RowKind.Fold) return this.#ofFold(rankedRow, kept);
    const { unfilled, fleet } = this.#cycle;
    this.#fill(rankedRow);
    if (unfilled.covered) return kept;
    const deficit = fleet.dimensions.vectorOf(unfilled.deficit(), 0);
    return kept.map((verdict) => this.#unmet(rankedRow, verdict, deficit));
  }

  /** Members come in the order in which they are hosted; the first ones keep the machines that are left. */
  #ofFold(fold: number, members: readonly Verdict[]): readonly Verdict[] {
    const { claims, fleet, rankedRows } = this.#cycle;
    const row = rankedRows.row[fold]!;
    let hosted = 0;
    for (const slot of claims.of(fold))
      if (!this.#slots.has(slot)) hosted += hostedGangs(fleet, fleet.machines.classOf[slot]!, row);
    const aggregate = fleet.demand.aggregate.data.slice(
      row * fleet.dimensions.stride,
      row * fleet.dimensions.stride + fleet.dimensions.count,
    );
    const deficit = fleet.dimensions.vectorOf(aggregate, 0);
    return members.map((verdict, i) => (i < hosted ? verdict : this.#unmet(fold, verdict, deficit)));
  }

  /** Leaves in `cycle.unfilled` what the row lacks. */
  #fill(rankedRow: number): void {
    const { claims, fleet, sharing, unfilled } = this.#cycle;
    const pattern = this.#cycle.patternOf(rankedRow);
    this.#cycle.beginUnfilled(rankedRow);
    for (const { slot, amount } of sharing.sharesOf(rankedRow))
      if (!this.#slots.has(slot)) unfilled.borrow(amount);
    for (const slot of claims.of(rankedRow)) {
      const c = fleet.machines.classOf[slot]!;
      if (!this.#slots.has(slot)) unfilled.take(c, pattern.fits(c));
    }
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
