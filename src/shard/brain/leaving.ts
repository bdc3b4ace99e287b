// Why a machine that no row counts on leaves its cluster. The plan says only that it is excess; whether its row has
// enough, has ended, or is a gang that keeps no part is read from the demand and the verdicts that the plan comes with.

import {
  type Action,
  attributeOf,
  excerpt,
  type NeedKey,
  sameTermOf,
  type Verdict,
} from '../../model/index.ts';
import type { Leaving } from './actuation/records.ts';
import type { Book } from './book.ts';
import type { Profiles } from './need-names.ts';

export interface LeavingParts {
  readonly book: Book;
  readonly profiles: Profiles;
  /** null: it is no row of its own. */
  readonly verdictOf: (key: NeedKey) => Verdict | null;
}

/** null: the machine leaves for another reason, or the row it was bound for is not known. */
export function leavingOf(
  { kind, machine, reason }: Action,
  { book, profiles, verdictOf }: LeavingParts,
): Leaving | null {
  const isExcess = kind === 'Reclaim' || (kind === 'Preempt' && reason === 'phase2.excess');
  const { cluster, stamp } = book.standing(machine) ?? { cluster: '', stamp: null };
  if (!isExcess || stamp === null || cluster === '') return null;
  const key = { cluster, fingerprint: stamp.fingerprint, group: stamp.group };
  const profile = profiles.of(key);
  if (profile === undefined) return { cause: 'work-ended', domain: null, goesTo: null };
  const same = sameTermOf(profile);
  const record = book.recordOf(machine);
  const verdict = same === undefined ? null : verdictOf(key);
  if (same === undefined || record === null || verdict === null) return EXCESS;
  const domain = excerpt(attributeOf(record, same.key) ?? '');
  const goesTo = verdict.domain === null ? null : excerpt(verdict.domain);
  // A gang that no place can complete keeps what it has in the one that covers most of it, and nothing elsewhere.
  const isBroken = !verdict.satisfied && verdict.satisfiable !== true;
  if (isBroken && (goesTo !== domain || verdict.claimed.length === 0))
    return { cause: 'gang-broken', domain, goesTo: null };
  return goesTo === null || goesTo === domain ? EXCESS : { cause: 'gang-moved', domain, goesTo };
}

const EXCESS: Leaving = { cause: 'excess', domain: null, goesTo: null };
