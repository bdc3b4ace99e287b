// Profiles: everything about a row except cluster, group and amounts. The fingerprint is the profile as one canonical
// text; the wire, machine stamps and shortfall reports refer to a profile by it.

import { BUCKET_UNSPECIFIED, type PenaltyBucket } from './penalty.ts';
import { canonicalRequirements, Operator, type Requirement } from './requirement.ts';
import { compareText } from './text.ts';

/** Numbers are the wire's and appear in fingerprints. */
export const WhenUnsatisfiable = { Unspecified: 0, DoNotSchedule: 1, ScheduleAnyway: 2 } as const;
export type WhenUnsatisfiable = (typeof WhenUnsatisfiable)[keyof typeof WhenUnsatisfiable];

/** A limit on how unevenly the machines of a row are distributed over the values of a label. */
export interface Spread {
  readonly topologyKey: string;
  readonly maxSkew: number;
  readonly whenUnsatisfiable: WhenUnsatisfiable;
}

/** Always canonical: made by `makeProfile` only. */
export interface Profile {
  readonly requirements: readonly Requirement[];
  readonly spread: readonly Spread[];
  /** int32; higher is served first. */
  readonly priority: number;
  readonly interruptionBucket: PenaltyBucket;
  readonly reclamationBucket: PenaltyBucket;
  readonly fingerprint: string;
}

/** The parts of a profile in any order; a part left out is empty, priority 0, or unspecified. */
export interface ProfileParts {
  readonly requirements?: readonly Requirement[];
  readonly spread?: readonly Spread[];
  readonly priority?: number;
  readonly interruptionBucket?: PenaltyBucket;
  readonly reclamationBucket?: PenaltyBucket;
}

/** The canonical profile of its parts, with its fingerprint. */
export function makeProfile(parts: ProfileParts): Profile {
  const profile = {
    requirements: canonicalRequirements(parts.requirements ?? []),
    spread: canonicalSpread(parts.spread ?? []),
    priority: parts.priority ?? 0,
    interruptionBucket: parts.interruptionBucket ?? BUCKET_UNSPECIFIED,
    reclamationBucket: parts.reclamationBucket ?? BUCKET_UNSPECIFIED,
  };
  return { ...profile, fingerprint: fingerprintOf(profile) };
}

function canonicalSpread(spread: readonly Spread[]): readonly Spread[] {
  return [...spread].sort(
    (a, b) =>
      compareText(a.topologyKey, b.topologyKey) ||
      a.maxSkew - b.maxSkew ||
      a.whenUnsatisfiable - b.whenUnsatisfiable,
  );
}

/** The `Same` term, if any. A profile honours one; the first in canonical order. */
export function sameTermOf(profile: Profile): Requirement | undefined {
  return profile.requirements.find((requirement) => requirement.operator === Operator.Same);
}

/** The spread term that binds: the first DoNotSchedule one by topology key. `Same` switches spread off. */
export function strictSpreadOf(profile: Profile): Spread | undefined {
  if (sameTermOf(profile) !== undefined) return undefined;
  return profile.spread.find((term) => term.whenUnsatisfiable === WhenUnsatisfiable.DoNotSchedule);
}

/** The profile with every `Same` term taken out. */
export function withoutSame(profile: Profile): Profile {
  return makeProfile({
    ...profile,
    requirements: profile.requirements.filter((requirement) => requirement.operator !== Operator.Same),
  });
}

// `p=…|ipb=…|rpb=…|reqs=key:op:v1,v2;…|spr=key:skew:when;…`. Separators inside keys and values are escaped
// with a backslash, and a list that holds just the empty string is spelled `\e` to differ from no values at
// all, so two different profiles never share a text; without such values the text is the plain one.
function fingerprintOf(profile: Omit<Profile, 'fingerprint'>): string {
  const requirements = profile.requirements.map(({ key, operator, values }) => {
    return `${escapeText(key)}:${operator}:${escapeList(values)};`;
  });
  const spread = profile.spread.map(({ topologyKey, maxSkew, whenUnsatisfiable }) => {
    return `${escapeText(topologyKey)}:${maxSkew}:${whenUnsatisfiable};`;
  });
  const { priority, interruptionBucket, reclamationBucket } = profile;
  return (
    `p=${priority}|ipb=${interruptionBucket}|rpb=${reclamationBucket}` +
    `|reqs=${requirements.join('')}|spr=${spread.join('')}`
  );
}

function escapeList(values: readonly string[]): string {
  return values.length === 1 && values[0] === '' ? '\\e' : values.map(escapeText).join(',');
}

function escapeText(text: string): string {
  return text.replace(/[\\,;:|]/g, '\\$&');
}
