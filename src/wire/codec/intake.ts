// The intake of one cluster's roll-ups: bytes in, rows out. An unchanged roll-up is recognised without decoding; of a
// changed one, only new rows are decoded and converted. A roll-up that violates the contract is refused as a whole, and
// rows beyond the shard's limits are set aside. The shard has one for each cluster (demand/cluster-demand.ts).

import { Interner } from '../../collections/interner.ts';
import {
  FRESH,
  type Need,
  NO_BASE,
  type Problem,
  type Profile,
  type ResourceVector,
  type RollupDelta,
} from '../../model/index.ts';
import { type Combined, combine, keptOf, NO_ROWS } from './combination.ts';
import { type Row, rowBeyondLimit, rowFromWire, sessionProblems } from './need.ts';
import { type ChangedRollup, RollupReader, type RollupSize } from './rollup.ts';
import { type RollupProblems, wholeProblems } from './rollup-problems.ts';
import { finished } from './steps.ts';

export type IntakeResult =
  | {
      readonly kind: 'unchanged';
      readonly timestampUnixNanos: bigint;
      /** The encoded node facts; empty if there are none. */
      readonly nodeFacts: Uint8Array;
    }
  | {
      readonly kind: 'changed';
      readonly timestampUnixNanos: bigint;
      readonly nodeFacts: Uint8Array;
      /** The difference from the accepted roll-up. First-seen times are 0, "not known". */
      readonly delta: RollupDelta;
      /** All Needs. */
      readonly needs: readonly Need[];
      /** Rows of the wire that are set aside, those that are not in `needs` included. */
      readonly rowsSetAside: number;
      /** Of those, not in `needs`: their key is unknown, or there are very many. */
      readonly hiddenRows: number;
      readonly remarks: RollupProblems;
      readonly size: RollupSize;
      readonly rollup: ChangedRollup<Row>;
      readonly combined: Combined;
    }
  | { readonly kind: 'refused'; readonly timestampUnixNanos: bigint; readonly problems: RollupProblems };

/**
 * Only parts within both limits are interned; ordinary profiles and vectors are. Interned parts outlive their roll-ups,
 * even refused ones, until tens of thousands of others evict them, so larger ones would use memory that no limit counts.
 */
const MAX_SHARED_CHARACTERS = 512;
const MAX_SHARED_TERMS = 16;

/** Interned profiles and vectors, shared by the rows of all clusters; demand/rollups.ts has one. */
export class SharedParts {
  readonly #profiles = new Interner<Profile>();
  readonly #vectors = new Interner<ResourceVector>();

  of(need: Need): Need {
    const { profile, aggregate, minUnit } = need;
    return {
      ...need,
      profile: this.#profileOf(profile),
      aggregate: this.#vectorOf(aggregate),
      minUnit: this.#vectorOf(minUnit),
    };
  }

  #profileOf(profile: Profile): Profile {
    const { fingerprint, requirements, spread } = profile;
    const isSmall =
      fingerprint.length <= MAX_SHARED_CHARACTERS && requirements.length + spread.length <= MAX_SHARED_TERMS;
    return isSmall ? this.#profiles.share(fingerprint, profile) : profile;
  }

  #vectorOf(vector: ResourceVector): ResourceVector {
    const text = textOf(vector);
    return text.length <= MAX_SHARED_CHARACTERS ? this.#vectors.share(text, vector) : vector;
  }
}

/** Every entry, zeros too, in the order of names: Go writes maps in any order. */
function textOf(vector: ResourceVector): string {
  let text = '';
  for (const name of [...vector.keys()].sort()) text += `${name.length}:${name}${vector.get(name)};`;
  return text;
}

export interface IntakeLimits {
  /** Most rows of one roll-up, by weight: a large row counts as several ordinary ones. */
  readonly maxRows?: number;
  /** Returns a problem if there is no room for a roll-up of this size, else null. */
  readonly roomFor?: (size: RollupSize) => Problem | null;
}

export class RollupIntake {
  readonly #cluster: string;
  readonly #reader: RollupReader<Row>;
  /** The accepted roll-up; version `NO_BASE`: none. */
  #accepted = { version: NO_BASE, ...NO_ROWS };
  #lastVersion = NO_BASE;

  /** `cluster` is the one the session belongs to; a roll-up that names another is refused. */
  constructor(cluster: string, shared = new SharedParts()) {
    this.#cluster = cluster;
    const share = (row: Row): Row => (row.kind === 'need' ? { ...row, need: shared.of(row.need) } : row);
    this.#reader = new RollupReader({
      decoded: (wire) => share(rowFromWire(wire, cluster)),
      excessive: (excess, wire) => share(rowBeyondLimit(excess, wire, cluster)),
    });
  }

  /** The timestamp and the node facts, if the bytes are equal to the accepted roll-up apart from them; else null. */
  repeats(bytes: Uint8Array): { readonly timestampUnixNanos: bigint; readonly facts: Uint8Array } | null {
    return this.#reader.repeats(bytes);
  }

  /** Reads a roll-up in one go. */
  read(bytes: Uint8Array, limits: IntakeLimits = {}): IntakeResult {
    return finished(this.reading(bytes, limits));
  }

  /**
   * Reads a roll-up in short steps. Throws WireFormatError on malformed bytes. The last accepted roll-up never changes
   * here; see `accept`.
   */
  *reading(bytes: Uint8Array, { maxRows, roomFor }: IntakeLimits = {}): Generator<undefined, IntakeResult> {
    let size!: RollupSize;
    const admit = (found: RollupSize): readonly Problem[] => {
      size = found;
      const wrongCluster = sessionProblems(found.clusterId, this.#cluster);
      if (wrongCluster.length > 0) return wrongCluster;
      if (maxRows !== undefined && found.weight > maxRows) return [tooHeavy(found, maxRows)];
      const full = roomFor?.(found) ?? null;
      return full === null ? [] : [full];
    };
    const rollup = yield* this.#reader.reading(bytes, {
      ...(maxRows === undefined ? {} : { maxRows }),
      admit,
    });
    const { timestampUnixNanos } = rollup;
    if (rollup.kind === 'unchanged') return rollup;
    if (rollup.kind === 'refused')
      return { kind: 'refused', timestampUnixNanos, problems: wholeProblems(rollup.problems) };
    const combined = yield* combine(rollup.needs, rollup.origin, this.#accepted);
    const { needs, rowsSetAside, hiddenRows, remarks, violations } = combined;
    if (violations.total > 0) return { kind: 'refused', timestampUnixNanos, problems: violations };
    const counts = { rowsSetAside, hiddenRows, remarks, size };
    const delta = this.#deltaOf(combined);
    const { nodeFacts } = rollup;
    return { kind: 'changed', timestampUnixNanos, nodeFacts, delta, needs, ...counts, rollup, combined };
  }

  /** Makes the roll-up just read the one that later ones are compared with. */
  accept(intake: IntakeResult): void {
    if (intake.kind !== 'changed') return;
    const { rollup, combined, delta } = intake;
    this.#reader.accept(rollup);
    const kept = keptOf(combined, (row) => !rollup.excessive.has(row));
    this.#accepted = { version: delta.version, ...kept };
  }

  #deltaOf({ needs, origin }: Combined): RollupDelta {
    const fresh = needs.filter((_, i) => origin[i] === FRESH);
    const version = ++this.#lastVersion;
    return { cluster: this.#cluster, base: this.#accepted.version, version, origin, fresh };
  }
}

function tooHeavy({ rows, weight }: RollupSize, maxRows: number): Problem {
  const message = `${rows} rows that are as large as ${weight} ordinary ones, the limit is ${maxRows}.`;
  return { code: 'BF_ROLLUP_LIMIT', path: 'needs', message };
}
