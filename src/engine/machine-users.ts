// Who uses a machine after Phase 1: the row that claims it and the rows that borrow from it, each with what it takes.
// Computed on request, for one machine: where rows share, the sharing of the whole cluster is repeated. Called by
// engine.ts.

import type { MachineUser } from '../model/index.ts';
import { NONE, RowKind } from './assign/ranked-rows.ts';
import type { Cycle } from './cycle.ts';
import { Takings, type TakingsVisitor } from './takings.ts';

/** The claimant first, then the borrowers by rank; none if no row claims the machine. */
export function usersOf(cycle: Cycle, slot: number): readonly MachineUser[] {
  const { claims, rankedRows, sharing } = cycle;
  const claimant = claims.claimedBy[slot]! - 1;
  if (claimant === NONE) return [];
  const users: MachineUser[] = [];
  let current = NONE;
  const visitor: TakingsVisitor = {
    begin: (rankedRow) => {
      current = rankedRow;
    },
    take: (of, amount, isShare) => {
      if (of === slot) users.push(userOf(cycle, current, amount, isShare));
    },
    end: () => {},
  };
  const takings = new Takings(cycle);
  if (!sharing.lends(claimant)) takings.visitClaims(claimant, visitor);
  else {
    const cluster = rankedRows.cluster[claimant]!;
    takings.visitLenders(cluster, 'settled', visitor);
    takings.visitLenders(cluster, 'open', visitor);
  }
  return users;
}

function userOf(
  { fleet, rankedRows }: Cycle,
  rankedRow: number,
  amount: Float64Array,
  isShare: boolean,
): MachineUser {
  return {
    key: fleet.keys.keyOf(rankedRows.key[rankedRow]!),
    priority: fleet.demand.profiles.entryOf(rankedRows.profile[rankedRow]!).profile.priority,
    isShare,
    amount: rankedRows.kind[rankedRow] === RowKind.SetAside ? null : fleet.dimensions.vectorOf(amount, 0),
  };
}
