// What keeps the machines that meet a row's requirements from serving it, machine by machine. It scans all machines, so it
// runs for one row on request (`explain`), never for all rows of a cycle.

import {
  CLAIMED_CAUSES,
  type Claimant,
  type ClaimedCause,
  MAX_CLAIMANTS,
  MachineState,
  OBSTACLE_CAUSES,
  type ObstacleCause,
  type Obstacles,
} from '../model/index.ts';
import { NONE } from './assign/ranked-rows.ts';
import { isFreeState } from './candidates/class-availability.ts';
import type { Cycle } from './cycle.ts';
import type { Preemption } from './preempt/preempt.ts';

/** Called for every machine that meets the requirements; `own` for those that the row has or gets. */
export type ObstacleVisitor = (slot: number, cause: ObstacleCause | 'own') => void;

export function obstaclesOf(
  cycle: Cycle,
  rankedRow: number,
  preemptions: ReadonlyMap<number, Preemption>,
  visit: ObstacleVisitor = () => {},
): Obstacles {
  const { machines, patterns } = cycle.fleet;
  const pattern = patterns.patternOf(cycle.rankedRows.pattern[rankedRow]!);
  const users = new Users(cycle, preemptions);
  const counts = Object.fromEntries(OBSTACLE_CAUSES.map((cause) => [cause, 0])) as Record<
    ObstacleCause,
    number
  >;
  const byClaimant = new Map<number, number>();
  let own = 0;
  for (let slot = 0; slot < machines.size; slot++) {
    // Unused slots have state 0.
    if (machines.state[slot] === 0 || !pattern.matches(machines.classOf[slot]!)) continue;
    const user = users.of(slot);
    const cause =
      user === rankedRow
        ? 'own'
        : causeOf(cycle, rankedRow, slot, user, pattern.fits(machines.classOf[slot]!));
    visit(slot, cause);
    if (cause === 'own') own++;
    else {
      counts[cause]++;
      if (isClaimed(cause)) byClaimant.set(user, (byClaimant.get(user) ?? 0) + 1);
    }
  }
  return {
    own,
    machines: counts,
    ...claimantsOf(cycle, rankedRow, byClaimant),
    remainders: cycle.sharing.countsOf(rankedRow),
  };
}

function isClaimed(cause: ObstacleCause): cause is ClaimedCause {
  return CLAIMED_CAUSES.some((claimed) => claimed === cause);
}

function causeOf(cycle: Cycle, rankedRow: number, slot: number, user: number, fits: boolean): ObstacleCause {
  const { blocked, state } = cycle.fleet.machines;
  if (!fits) return 'too-small';
  if (state[slot] === MachineState.Failed) return 'failed';
  if (blocked[slot] === 1) return 'blocked';
  if (user === NONE) return isFreeState(state[slot]) ? 'unused' : 'in-transit';
  return claimedCause(cycle, rankedRow, user);
}

function claimedCause({ rankedRows: { precedence } }: Cycle, rankedRow: number, user: number): ClaimedCause {
  if (precedence[user]! > precedence[rankedRow]!) return 'claimed-by-better';
  return precedence[user] === precedence[rankedRow] ? 'claimed-by-equals' : 'claimed-by-worse';
}

/**
 * The ranked row that a machine is for: the one that Phase 2 picked it for, that claims it, or that it is on its way to.
 */
class Users {
  readonly #cycle: Cycle;
  readonly #pickedFor = new Map<number, number>();

  constructor(cycle: Cycle, preemptions: ReadonlyMap<number, Preemption>) {
    this.#cycle = cycle;
    for (const [rankedRow, { picks }] of preemptions)
      for (const { slot } of picks) this.#pickedFor.set(slot, rankedRow);
  }

  of(slot: number): number {
    const { claims, fleet, rankedRows } = this.#cycle;
    const picker = this.#pickedFor.get(slot);
    if (picker !== undefined) return picker;
    if (!claims.isFree(slot)) return claims.claimedBy[slot]! - 1;
    const state = fleet.machines.state[slot];
    // A target on a Speculative machine means ownership only, and a machine that is being deleted is on its way to no row.
    const isInFlight =
      state === MachineState.Idle || state === MachineState.Creating || state === MachineState.Draining;
    const target = fleet.machines.target[slot]!;
    return isInFlight && target !== 0 ? rankedRows.ofKey[target]! : NONE;
  }
}

/** By cause, most machines first, then best rank. */
function claimantsOf(
  cycle: Cycle,
  rankedRow: number,
  byClaimant: ReadonlyMap<number, number>,
): Pick<Obstacles, 'claimants' | 'claimantsTotal'> {
  const { fleet, rankedRows } = cycle;
  const claimants = CLAIMED_CAUSES.map((cause) =>
    [...byClaimant]
      .filter(([user]) => claimedCause(cycle, rankedRow, user) === cause)
      .sort(([a, machines], [b, others]) => others - machines || rankedRows.compare(a, b))
      .map(
        ([user, machines]): Claimant => ({
          cause,
          key: fleet.keys.keyOf(rankedRows.key[user]!),
          priority: fleet.demand.profiles.entryOf(rankedRows.profile[user]!).profile.priority,
          machines,
        }),
      ),
  );
  const [better, equals, worse] = claimants.map(({ length }) => length);
  return {
    claimants: claimants.flatMap((of) => of.slice(0, MAX_CLAIMANTS)),
    claimantsTotal: {
      'claimed-by-better': better!,
      'claimed-by-equals': equals!,
      'claimed-by-worse': worse!,
    },
  };
}
