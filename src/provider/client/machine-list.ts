// Reads the bytes of a `MachineList` record by record, for intake.ts and client.ts; `machinesOf` decodes a batch for
// its receiver (shard/inventory/reconcile.ts). Malformed bytes between records invalidate the whole list; a record that
// is malformed or invalid by itself is rejected alone.

import { excerpt, type Machine, type Problem, type Result, refused } from '../../model/index.ts';
import { Machine as WireMachine } from '../../wire/gen/bigfleet/v1alpha1/provider.ts';
import { decodeStrict, machineFromWire, WIRE, WireCursor, WireFormatError } from '../../wire/index.ts';

const MACHINES = 1;
const REVISION = 2;

/** Called for each record with the start of its list entry and the range of its own bytes. */
export type VisitRecord = (entry: number, from: number, to: number) => void;

/** Visits every record and returns the revision. Throws `WireFormatError` if the bytes are not a list. */
export function walkList(bytes: Uint8Array, visit: VisitRecord): Uint8Array {
  const cursor = new WireCursor().reset(bytes, 0, bytes.length);
  let revision = new Uint8Array();
  while (cursor.next()) {
    if (cursor.field !== MACHINES && cursor.field !== REVISION) continue;
    if (cursor.type !== WIRE.bytes) throw new WireFormatError(cursor.start, 'a length-delimited field');
    if (cursor.field === MACHINES) visit(cursor.start, cursor.valueStart, cursor.pos);
    // Copied: a view would keep the whole list in memory.
    else revision = Uint8Array.from(bytes.subarray(cursor.valueStart, cursor.pos));
  }
  return revision;
}

/**
 * One record, or all problems that make it invalid. `place` is its index in the list; `onMetadata` receives the
 * metadata, most of which a `Machine` does not carry.
 */
export function readRecord(
  bytes: Uint8Array,
  from: number,
  to: number,
  place: number,
  onMetadata?: (metadata: ReadonlyMap<string, string>) => void,
): Result<Machine> {
  let wire: WireMachine;
  try {
    wire = decodeStrict(WireMachine, bytes.subarray(from, to), from);
  } catch (error) {
    if (!(error instanceof WireFormatError)) throw error;
    return refused([{ ...error.problems[0]!, path: `machines[${place}]` }]);
  }
  onMetadata?.(wire.shardMetadata);
  return machineFromWire(wire, pathOf(place, wire.id));
}

function pathOf(place: number, id: string): string {
  return `machines[${place}](${excerpt(id)})`;
}

/** A list as objects, with the records that were rejected. */
export interface DecodedList {
  readonly machines: readonly Machine[];
  /** Records rejected. */
  readonly refused: number;
  /** Reasons of the rejections, about the first hundred. */
  readonly problems: readonly Problem[];
  /** Empty if the provider does not support revisions. */
  readonly revision: Uint8Array;
}

/** A faulty provider has a problem for each machine; the first ones identify the fault. */
const MAX_PROBLEMS = 100;

/** A whole list as objects. Records with a duplicate id are all rejected. */
export function decodeList(bytes: Uint8Array): DecodedList {
  const byId = new Map<string, Machine | null>();
  const problems: Problem[] = [];
  let records = 0;
  const revision = walkList(bytes, (_, from, to) => {
    const place = records++;
    const machine = readRecord(bytes, from, to, place);
    if (!machine.ok) {
      if (problems.length < MAX_PROBLEMS) problems.push(...machine.problems);
      return;
    }
    const { id } = machine.value;
    if (byId.has(id) && problems.length < MAX_PROBLEMS) problems.push(duplicate(place, id));
    byId.set(id, byId.has(id) ? null : machine.value);
  });
  const machines = [...byId.values()].filter((machine) => machine !== null);
  return { machines, refused: records - machines.length, problems, revision };
}

export function duplicate(place: number, id: string): Problem {
  return {
    code: 'BF_LIST_DUPLICATE',
    path: pathOf(place, id),
    message: 'Another record of this list has this id.',
  };
}

/** Records as the bytes of a `MachineList`; all are valid, and ids are unique. */
export interface RecordBatch {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly count: number;
}

/** The machines of a batch. */
export function machinesOf({ bytes }: RecordBatch): readonly Machine[] {
  const machines: Machine[] = [];
  walkList(bytes, (_, from, to) => {
    const machine = readRecord(bytes, from, to, machines.length);
    if (!machine.ok) throw new Error('A batch has valid records only.');
    machines.push(machine.value);
  });
  return machines;
}
