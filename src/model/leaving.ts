// Why a machine that no row counts on leaves its cluster. The plan says only that it is excess; whether its row has
// enough, has ended, or is a gang that keeps no part of itself there is read from the demand and the verdicts.

import type { Verdict } from './decision.ts';
import { type Profile, sameTermOf } from './profile.ts';
import { type Attributes, attributeOf } from './requirement.ts';

/**
 *  excess       its row has enough without it
 *  work-ended   the row it was bound for is no longer reported
 *  gang-broken  its row is a gang that cannot be whole now, and keeps no part in the place of the machine
 *  gang-moved   its row is a gang that is, or is being put together, in another place
 */
export type LeavingCause = 'excess' | 'work-ended' | 'gang-broken' | 'gang-moved';

export interface Leaving {
  readonly cause: LeavingCause;
  /** Of a gang: the place that the machine is in, and the one that the gang is in now. */
  readonly domain: string | null;
  readonly goesTo: string | null;
}

const EXCESS: Leaving = { cause: 'excess', domain: null, goesTo: null };

/** `profile`: of the row it was bound for, undefined if there is none any more. `verdictOf` is asked of gangs only. */
export function leavingOfRow(
  machine: Attributes,
  profile: Profile | undefined,
  verdictOf: () => Verdict | null,
): Leaving {
  if (profile === undefined) return { ...EXCESS, cause: 'work-ended' };
  const same = sameTermOf(profile);
  const verdict = same === undefined ? null : verdictOf();
  if (same === undefined || verdict === null) return EXCESS;
  const domain = attributeOf(machine, same.key) ?? '';
  const goesTo = verdict.domain;
  // A gang that no place can complete keeps what it has in the one that covers most of it, and nothing elsewhere.
  const isBroken = !verdict.satisfied && verdict.satisfiable !== true;
  if (isBroken && (goesTo !== domain || verdict.claimed.length === 0))
    return { cause: 'gang-broken', domain, goesTo: null };
  return goesTo === null || goesTo === domain ? EXCESS : { cause: 'gang-moved', domain, goesTo };
}
