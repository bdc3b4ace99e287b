// Interned profiles, with the derived values that a cycle reads instead of a row's fingerprint. demand-rows.ts adds
// them.

import { dollarsOfBucket, type Profile, sameTermOf, strictSpreadOf, withoutSame } from '../../model/index.ts';

/** A profile with its derived values. */
export interface ProfileEntry {
  readonly profile: Profile;
  /** The key all machines of a gang share; undefined for plain rows. */
  readonly sameKey: string | undefined;
  /** The key a strict spread counts by, and how far its domains may differ (at least 1). */
  readonly spreadKey: string | undefined;
  readonly maxSkew: number;
  /** Dollars an interruption costs: the upper bound of the bucket. */
  readonly interruptionDollars: number;
  readonly reclamationDollars: number;
  /** Priority, interruption bucket and reclamation bucket as one number: the higher is served first. */
  readonly precedence: number;
  /** The profile without `Same`, for the fold; the profile itself for plain rows. */
  readonly stripped: Profile;
}

export class ProfileTable {
  readonly #numbers = new Map<string, number>();
  readonly #entries: (ProfileEntry | undefined)[] = [];
  readonly #holders: number[] = [];
  readonly #free: number[] = [];

  /** Incremented whenever a profile is added or removed. */
  version = 0;

  /** Entries by number; undefined for a number that is not in use. */
  get entries(): readonly (ProfileEntry | undefined)[] {
    return this.#entries;
  }

  /** Copies a profile of another thread's fleet; undefined if the number is not in use there. */
  mirror(number: number, entry: ProfileEntry | undefined): void {
    this.#entries[number] = entry;
  }

  /** Adds a reference to a profile and returns its number. */
  retain(profile: Profile): number {
    let number = this.#numbers.get(profile.fingerprint);
    if (number === undefined) {
      number = this.#free.pop() ?? this.#entries.length;
      this.#numbers.set(profile.fingerprint, number);
      this.#entries[number] = entryOf(profile);
      this.version++;
      this.#holders[number] = 0;
    }
    this.#holders[number]!++;
    return number;
  }

  /** Profiles in use. */
  get count(): number {
    return this.#numbers.size;
  }

  /** Drops a reference. */
  drop(number: number): void {
    if (--this.#holders[number]! > 0) return;
    this.#numbers.delete(this.#entries[number]!.profile.fingerprint);
    this.#entries[number] = undefined;
    this.version++;
    this.#free.push(number);
  }

  entryOf(number: number): ProfileEntry {
    return this.#entries[number]!;
  }
}

function entryOf(profile: Profile): ProfileEntry {
  const sameKey = sameTermOf(profile)?.key;
  const spread = strictSpreadOf(profile);
  return {
    profile,
    sameKey,
    spreadKey: spread?.topologyKey,
    maxSkew: Math.max(1, spread?.maxSkew ?? 1),
    interruptionDollars: dollarsOfBucket(profile.interruptionBucket),
    reclamationDollars: dollarsOfBucket(profile.reclamationBucket),
    precedence: precedenceOf(profile),
    stripped: sameKey === undefined ? profile : withoutSame(profile),
  };
}

/** Precedence as one number: the higher is served first. */
function precedenceOf({ priority, interruptionBucket, reclamationBucket }: Profile): number {
  return ((priority + 2 ** 31) * 32 + interruptionBucket) * 32 + reclamationBucket;
}
