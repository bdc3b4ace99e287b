// Roll-ups in the journal: the deltas that the ledger applied, each relative to the previous record of its cluster in
// the same segment. A segment begins with no rows, so the first record of a cluster is its whole roll-up. Used by
// packing.ts.

import type { Fleet } from '../../fleet/index.ts';
import {
  composedOrigin,
  FRESH,
  keptRows,
  type Need,
  NO_BASE,
  NO_ROLLUP,
  printable,
  type RollupBase,
  type RollupDelta,
} from '../../model/index.ts';
import { DemandReceiver, DemandSender, type PackedDelta } from '../process/demand-codec.ts';

/** A roll-up as it is written. */
export interface RollupRecord
  extends Pick<PackedDelta, 'cluster' | 'before' | 'fresh' | 'profiles' | 'dropped'> {
  /**
   * By row: its index in the previous record or, from `before` on, `before` + its index in `fresh`. null: the rows of the
   * previous record, in journals of earlier versions.
   */
  readonly order: Int32Array | null;
}

/** What the segment has of a cluster. */
interface Written {
  /** Version of the roll-up in its last record. */
  readonly version: number;
  /** The difference from that to the roll-up in the ledger; null: none. */
  unwritten: Unwritten | null;
}

/** A delta without its fresh rows, which are in the ledger: kept until the next record, they would be garbage of the old generation. */
type Unwritten = Omit<RollupDelta, 'cluster' | 'fresh'>;

/** Writes the roll-ups of one segment. */
export class RollupRecorder {
  readonly #fleet: Fleet;
  readonly #sender = new DemandSender();
  readonly #written = new Map<string, Written>();

  constructor(fleet: Fleet) {
    this.#fleet = fleet;
  }

  /**
   * Takes note of roll-ups that the ledger applied, before it applies further ones of their clusters. Those that changed no row
   * are written with the next one of their cluster.
   */
  note(rollUps: Iterable<RollupDelta>): void {
    for (const { cluster, base, version, origin } of rollUps) {
      const written = this.#written.get(cluster);
      // Clusters without a record are written as a whole.
      if (written === undefined) continue;
      const { unwritten } = written;
      if (base !== NO_BASE && base !== (unwritten ?? written).version) this.#written.delete(cluster);
      else if (unwritten === null || base === NO_BASE) written.unwritten = { base, version, origin };
      else
        written.unwritten = {
          ...{ base: unwritten.base, version },
          origin: composedOrigin(unwritten.origin, origin),
        };
    }
  }

  /** Records of the clusters with these numbers; none for a cluster whose last record is up to date. */
  records(clusters: Iterable<number>): RollupRecord[] {
    const records: RollupRecord[] = [];
    for (const number of clusters) {
      const cluster = this.#fleet.clusters.nameOf(number);
      const written = this.#written.get(cluster);
      // A cluster without rows gets a record too: a reader that comes from an older segment has its former rows.
      const delta =
        written === undefined ? this.#fleet.demand.rollUpOf(number) : this.#deltaOf(cluster, number, written);
      if (delta === null) continue;
      this.#written.set(cluster, { version: delta.version, unwritten: null });
      records.push(recordOf(this.#sender.pack(delta)));
    }
    return records;
  }

  #deltaOf(cluster: string, number: number, { unwritten }: Written): RollupDelta | null {
    if (unwritten === null) return null;
    const { demand } = this.#fleet;
    const fresh: Need[] = [];
    for (const [i, at] of unwritten.origin.entries()) if (at === FRESH) fresh.push(demand.needIn(number, i));
    return { cluster, ...unwritten, fresh };
  }
}

function recordOf({ cluster, before, origin, fresh, profiles, dropped }: PackedDelta): RollupRecord {
  let next = before;
  const order = origin.map((at) => (at === FRESH ? next++ : at));
  return { cluster, before, order, fresh, profiles, dropped };
}

/** Reads the records of one segment. The versions of the roll-ups that it returns are its own. */
export class RollupRecordReader {
  readonly #receiver = new DemandReceiver();
  readonly #bases = new Map<string, RollupBase>();

  read(record: RollupRecord): RollupDelta {
    const { cluster, before } = record;
    const known = this.#bases.get(cluster) ?? NO_ROLLUP;
    if (known.rows !== before) {
      throw new Error(`demand of "${printable(cluster)}": ${known.rows} rows are known, not ${before}`);
    }
    const order = record.order ?? Int32Array.from({ length: before }, (_, i) => i);
    const origin = order.map((place) => (place < before ? place : FRESH));
    const version = known.version + 1;
    const unpacked = this.#receiver.unpack({ ...record, base: known.version, version, origin });
    const fresh: Need[] = [];
    for (const place of order) if (place >= before) fresh.push(unpacked.fresh[place - before]!);
    const delta = { ...unpacked, fresh };
    keptRows(delta, known);
    this.#bases.set(cluster, { version, rows: order.length });
    return delta;
  }
}
