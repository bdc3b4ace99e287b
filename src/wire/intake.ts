// The intake of one cluster's roll-ups: bytes in, rows out. An unchanged roll-up is recognised before it is decoded,
// in a changed one only new rows are decoded and converted, and a bad one is refused whole.

import { type Need, type Problem, type Result, refused } from '../model/index.ts';
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

export class RollupIntake {
  readonly #cluster: string;
  readonly #reader: RollupReader<Result<Need>>;

  /** `cluster` is the one the session belongs to; a roll-up that names another is refused. */
  constructor(cluster: string) {
    this.#cluster = cluster;
    this.#reader = new RollupReader((wire, index) => needFromWire(wire, cluster, `needs[${index}]`));
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
