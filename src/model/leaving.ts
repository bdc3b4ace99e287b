// Why a machine that no row claims leaves its cluster. The plan says only that it is excess; whether its row has
// enough, has ended, or is a gang that claims no machines in this domain follows from the demand and the verdicts. Used
// by the shard (planning/leaving.ts) and `bigfleet decide`.

import type { Verdict } from './decision.ts';
import { type Profile, sameTermOf } from './profile.ts';
import { type Attributes, attributeOf } from './requirement.ts';

/**
 *  excess       its row has enough without it
 *  replaced     cheaper machines replace it
 *  ordered      a person has ordered to drain it
 *  work-ended   the row it was bound for is no longer reported
 *  gang-broken  its row is a gang that cannot be complete now, and keeps no machines in the domain of this one
 *  gang-moved   its row is a gang that is, or is being assembled, in another domain
 */
type LeavingCause = 'excess' | 'replaced' | 'ordered' | 'work-ended' | 'gang-broken' | 'gang-moved';

export interface Leaving {
  readonly cause: LeavingCause;
  /** For a gang: the domain of the machine, and the domain of the gang now. */
  readonly domain: string | null;
  readonly goesTo: string | null;
}

const EXCESS: Leaving = { cause: 'excess', domain: null, goesTo: null };

/**
 * `profile` is that of the row it was bound for, undefined if the row has ended. `whyRetiring`: why the machine is to be replaced, if it is.
 * `verdictOf` is called for gangs only.
 */
export function leavingOfRow(
  machine: Attributes,
  profile: Profile | undefined,
  whyRetiring: 'replaced' | 'ordered' | null,
  verdictOf: () => Verdict | null,
): Leaving {
  if (profile === undefined) return { ...EXCESS, cause: 'work-ended' };
  if (whyRetiring !== null) return { ...EXCESS, cause: whyRetiring };
  const same = sameTermOf(profile);
  const verdict = same === undefined ? null : verdictOf();
  if (same === undefined || verdict === null) return EXCESS;
  const domain = attributeOf(machine, same.key) ?? '';
  const goesTo = verdict.domain;
  // A gang that no domain can complete keeps its machines in the domain that covers most of it, and no others.
  const isBroken = !verdict.satisfied && verdict.satisfiable !== true;
  if (isBroken && (goesTo !== domain || verdict.claimed.length === 0))
    return { cause: 'gang-broken', domain, goesTo: null };
  return goesTo === null || goesTo === domain ? EXCESS : { cause: 'gang-moved', domain, goesTo };
}
