// The input of a cycle as a delta to the previous one: full records of changed machines, deltas of roll-ups, and
// changed options. A cycle's input follows from these alone and not from the ledger's rules that led there, so a
// journal can be replayed by a version other than the one that wrote it. One packer per segment. Packed by
// recorder.ts; unpacked by replay.ts and history.ts.

import { isDeepStrictEqual } from 'node:util';
import { deserialize, serialize } from 'node:v8';
import type { ClassFacts, Fleet, LedgerRecord } from '../../fleet/index.ts';
import {
  type DecisionOptions,
  type MachineState,
  nodeUseAt,
  type RollupDelta,
  type Stamp,
  UNSHARED_OPTIONS,
} from '../../model/index.ts';
import type { Oddity, PackedInput, PackedMachines, PackedOptions } from './format.ts';
import { RollupRecorder, RollupRecordReader } from './rollup-records.ts';

/** Columns of a machine. */
const WIDTH = 4;
// Flags: the state in the lowest four bits.
const BLOCKED = 16;
const HAS_IDLE_TIME = 32;
const HAS_TARGET = 64;
const IS_UNCLAIMED = 128;
// The use takes two bits; journals of earlier versions have 0 there, which is unknown.
const USE = 256;

/** The part of the fleet that is written. */
export interface InputParts {
  readonly slots: Iterable<number>;
  /** Numbers of clusters. */
  readonly clusters: Iterable<number>;
  readonly removed: readonly string[];
  readonly retimed: ReadonlyMap<string, number>;
  readonly oddities: readonly Oddity[];
  readonly options: DecisionOptions | null;
}

export class InputPacker {
  readonly #fleet: Fleet;
  readonly #rollUps: RollupRecorder;
  readonly #texts = new Map<string, number>();
  /** By number of the fleet: the object that was written for it, and its index in the segment. */
  readonly #classes: (Place | undefined)[] = [];
  readonly #stamps: (Place | undefined)[] = [];
  #classCount = 0;
  #stampCount = 0;
  #options: DecisionOptions | null = null;

  constructor(fleet: Fleet) {
    this.#fleet = fleet;
    this.#rollUps = new RollupRecorder(fleet);
  }

  /** Values that packer and unpacker keep until the segment ends: each was packed once and is referred to by its number. */
  get interned(): number {
    return this.#texts.size + this.#classCount + this.#stampCount;
  }

  /** Takes note of roll-ups that the ledger applied, before the `pack` that writes them. */
  note(rollUps: Iterable<RollupDelta>): void {
    this.#rollUps.note(rollUps);
  }

  pack({ slots, clusters, removed, retimed, oddities, options }: InputParts): Uint8Array {
    const input: PackedInput = {
      machines: this.#packMachines(slots),
      demand: this.#rollUps.records(clusters),
      removed,
      retimed,
      oddities,
      options: options === null ? null : this.#packOptions(options),
    };
    return serialize(input);
  }

  #packMachines(slots: Iterable<number>): PackedMachines {
    const { machines, classes, keys, clusters } = this.#fleet;
    const fresh: Fresh = { texts: [], classes: [], stamps: [] };
    const ids: string[] = [];
    const columns: number[] = [];
    const idleSinceMs: number[] = [];
    const unclaimedSinceMs: number[] = [];
    const targets: number[] = [];
    for (const slot of slots) {
      const classNumber = machines.classOf[slot]!;
      const idle = machines.idleSinceMs[slot]!;
      const unclaimed = machines.unclaimedSinceMs[slot]!;
      const target = machines.target[slot]!;
      let flags = machines.state[slot]! + machines.blocked[slot]! * BLOCKED + machines.use[slot]! * USE;
      if (!Number.isNaN(idle)) {
        flags += HAS_IDLE_TIME;
        idleSinceMs.push(idle);
      }
      if (!Number.isNaN(unclaimed)) {
        flags += IS_UNCLAIMED;
        unclaimedSinceMs.push(unclaimed);
      }
      if (target !== 0) {
        flags += HAS_TARGET;
        const key = keys.keyOf(target);
        for (const text of [key.cluster, key.fingerprint, key.group]) targets.push(this.#text(text, fresh));
      }
      ids.push(machines.idOf(slot));
      columns.push(
        this.#classOf(classNumber, classes.attributes[classNumber]!, fresh),
        flags,
        this.#text(clusters.nameOf(machines.cluster[slot]!), fresh),
        this.#stampOf(machines.stamp[slot]!, fresh),
      );
    }
    return {
      ids,
      columns: Int32Array.from(columns),
      idleSinceMs: Float64Array.from(idleSinceMs),
      ...(unclaimedSinceMs.length === 0 ? {} : { unclaimedSinceMs: Float64Array.from(unclaimedSinceMs) }),
      targets: Int32Array.from(targets),
      ...fresh,
    };
  }

  #text(text: string, { texts }: Fresh): number {
    const known = this.#texts.get(text);
    if (known !== undefined) return known;
    const place = this.#texts.size;
    this.#texts.set(text, place);
    texts.push(text);
    return place;
  }

  /** The fleet reuses class numbers; a reused number refers to another object, so the object is compared too. */
  #classOf(number: number, attributes: object, { classes }: Fresh): number {
    const known = this.#classes[number];
    if (known?.of === attributes) return known.place;
    const place = this.#classCount++;
    this.#classes[number] = { of: attributes, place };
    classes.push(this.#fleet.classes.factsOf(number));
    return place;
  }

  #stampOf(number: number, { stamps }: Fresh): number {
    const stamp = this.#fleet.machines.stamps.stampOf(number);
    if (stamp === null) return -1;
    const known = this.#stamps[number];
    if (known?.of === stamp) return known.place;
    const place = this.#stampCount++;
    this.#stamps[number] = { of: stamp, place };
    stamps.push(stamp);
    return place;
  }

  #packOptions(options: DecisionOptions): PackedOptions {
    const before = this.#options;
    this.#options = options;
    const { readyClusters, cannotBind, connected, purchaseBudget, retiring, ...others } = options;
    const isFirst = before === null;
    const names = Object.keys(others) as (keyof typeof others)[];
    const hasSameRest = !isFirst && names.every((name) => before[name] === others[name]);
    return {
      readyClusters:
        !isFirst && hasSameNames(before.readyClusters, readyClusters) ? undefined : readyClusters,
      cannotBind: !isFirst && hasSameNames(before.cannotBind, cannotBind) ? undefined : cannotBind,
      ...(connected === undefined || hasSameNames(before?.connected ?? null, connected) ? {} : { connected }),
      ...(isDeepStrictEqual(before?.purchaseBudget, purchaseBudget)
        ? {}
        : { purchaseBudget: purchaseBudget ?? null }),
      ...markChanges(before?.retiring ?? NO_MARKS, retiring),
      others: hasSameRest ? undefined : others,
    };
  }
}

const NO_MARKS: DecisionOptions['retiring'] = new Set();

/** As a difference: a large fleet has tens of thousands of marks, and a few of them change at a time. */
function markChanges(
  before: ReadonlySet<string>,
  after: ReadonlySet<string>,
): Pick<PackedOptions, 'retiring'> {
  if (before === after) return {};
  const added = [...after].filter((id) => !before.has(id));
  const removed = [...before].filter((id) => !after.has(id));
  return added.length + removed.length === 0 ? {} : { retiring: { added, removed } };
}

interface Place {
  readonly of: object;
  readonly place: number;
}

/** Values that a message is the first of its segment to contain. */
interface Fresh {
  readonly texts: string[];
  readonly classes: ClassFacts[];
  readonly stamps: Stamp[];
}

function hasSameNames(a: ReadonlySet<string> | null, b: ReadonlySet<string> | null): boolean {
  if (a === null || b === null) return a === b;
  if (a.size !== b.size) return false;
  for (const name of a) if (!b.has(name)) return false;
  return true;
}

/** The input of a cycle as a delta to the previous one, unpacked. */
export interface InputChanges {
  readonly machines: readonly LedgerRecord[];
  readonly removed: readonly string[];
  /** Before `machines`. */
  readonly retimed: ReadonlyMap<string, number>;
  readonly demand: readonly RollupDelta[];
  readonly oddities: readonly Oddity[];
  /** null: nothing was decided. */
  readonly options: DecisionOptions | null;
}

/** Unpacks the messages of one packer; needs all of them, in order. */
export class InputUnpacker {
  readonly #rollUps = new RollupRecordReader();
  readonly #texts: string[] = [];
  readonly #classes: ClassFacts[] = [];
  readonly #stamps: Stamp[] = [];
  #options: DecisionOptions | null = null;

  unpack(bytes: Uint8Array): InputChanges {
    const { machines, removed, retimed, demand, oddities, options } = deserialize(bytes) as PackedInput;
    return {
      machines: this.#machines(machines),
      removed,
      retimed,
      demand: demand.map((record) => this.#rollUps.read(record)),
      oddities,
      options: options === null ? null : this.#optionsFrom(options),
    };
  }

  #machines(packed: PackedMachines): LedgerRecord[] {
    const { ids, columns, idleSinceMs, unclaimedSinceMs, targets, ...fresh } = packed;
    for (const text of fresh.texts) this.#texts.push(text);
    for (const facts of fresh.classes) this.#classes.push(facts);
    for (const stamp of fresh.stamps) this.#stamps.push(stamp);
    let idleAt = 0;
    let unclaimedAt = 0;
    let targetAt = 0;
    const text = (): string => this.#texts[targets[targetAt++]!]!;
    return ids.map((id, i) => {
      const [classPlace, flags, cluster, stamp] = columns.subarray(i * WIDTH, (i + 1) * WIDTH);
      return {
        id,
        ...this.#classes[classPlace!]!,
        state: (flags! & 15) as MachineState,
        blocked: (flags! & BLOCKED) !== 0,
        cluster: this.#texts[cluster!]!,
        stamp: this.#stamps[stamp!] ?? null,
        idleSinceMs: (flags! & HAS_IDLE_TIME) === 0 ? null : idleSinceMs[idleAt++]!,
        unclaimedSinceMs: (flags! & IS_UNCLAIMED) === 0 ? null : unclaimedSinceMs![unclaimedAt++]!,
        target: (flags! & HAS_TARGET) === 0 ? null : { cluster: text(), fingerprint: text(), group: text() },
        use: nodeUseAt((flags! >> 8) & 3),
      };
    });
  }

  #optionsFrom(packed: PackedOptions): DecisionOptions {
    const { readyClusters, cannotBind, connected, purchaseBudget, retiring, others } = packed;
    const before = this.#options;
    this.#options = {
      ...(others === undefined ? before! : { ...UNSHARED_OPTIONS, ...others }),
      readyClusters: readyClusters === undefined ? before!.readyClusters : readyClusters,
      cannotBind: cannotBind ?? before!.cannotBind,
      connected: connected ?? before?.connected,
      purchaseBudget: purchaseBudget === undefined ? before?.purchaseBudget : (purchaseBudget ?? undefined),
      retiring: withChanges(before?.retiring ?? NO_MARKS, retiring),
    };
    return this.#options;
  }
}

function withChanges(marks: ReadonlySet<string>, changes: PackedOptions['retiring']): ReadonlySet<string> {
  if (changes === undefined) return marks;
  const changed = new Set(marks);
  for (const id of changes.removed) changed.delete(id);
  for (const id of changes.added) changed.add(id);
  return changed;
}
