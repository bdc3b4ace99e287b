// The intake of one cluster's roll-ups: bytes in, rows out. An unchanged roll-up is recognised before it is decoded,
// in a changed one only new rows are decoded and converted, and a bad one is refused whole.

import {
  Interner,
  type Need,
  ok,
  type Problem,
  type Profile,
  type ResourceVector,
  type Result,
  refused,
} from '../model/index.ts';
import { combineNeeds, needFromWire, sessionProblems } from './need.ts';
import { type ChangedRollup, RollupReader } from './rollup.ts';

export type Intake =
  | { readonly kind: 'unchanged' }
  | {
      readonly kind: 'changed';
      readonly needs: readonly Need[];
      readonly rollup: ChangedRollup<Result<Need>>;
    }
  | { readonly kind: 'refused'; readonly problems: readonly Problem[] };

/** What rows of all clusters have in common. */
export class SharedParts {
  readonly #profiles = new Interner<Profile>();
  readonly #vectors = new Interner<ResourceVector>();

  of(need: Need): Need {
    const { profile, aggregate, minUnit } = need;
    return {
      ...need,
      profile: this.#profiles.share(profile.fingerprint, profile),
      aggregate: this.#vectors.share(textOf(aggregate), aggregate),
      minUnit: this.#vectors.share(textOf(minUnit), minUnit),
    };
  }
}

/** Every entry, zeros too, in the order of names: Go writes maps in any order. */
function textOf(vector: ResourceVector): string {
  let text = '';
  for (const name of [...vector.keys()].sort()) text += `${name.length}:${name}${vector.get(name)};`;
  return text;
}

export class RollupIntake {
  readonly #cluster: string;
  readonly #reader: RollupReader<Result<Need>>;

  /** `cluster` is the one the session belongs to; a roll-up that names another is refused. */
  constructor(cluster: string, shared = new SharedParts()) {
    this.#cluster = cluster;
    this.#reader = new RollupReader((wire, index) => {
      const row = needFromWire(wire, cluster, `needs[${index}]`);
      return row.ok ? ok(shared.of(row.value)) : row;
    });
  }

  /** Whether these bytes say what the accepted roll-up says, found out by comparing them alone. */
  repeats(bytes: Uint8Array): boolean {
    return this.#reader.repeats(bytes);
  }

  /** Reads a roll-up. Throws WireFormatError on bytes that are no roll-up; the last accepted one stays in any case. */
  read(bytes: Uint8Array): Intake {
    const rollup = this.#reader.read(bytes);
    if (rollup.kind === 'unchanged') return rollup;
    const problems = sessionProblems(rollup.clusterId, this.#cluster);
    const needs = problems.length > 0 ? refused<readonly Need[]>(problems) : combineNeeds(rollup.needs);
    return needs.ok
      ? { kind: 'changed', needs: needs.value, rollup }
      : { kind: 'refused', problems: needs.problems };
  }

  /** Makes the roll-up just read the one that later ones are compared with. */
  accept(intake: Intake): void {
    if (intake.kind === 'changed') this.#reader.accept(intake.rollup);
  }
}
