// The bytes of a `MachineList`, record by record. Broken bytes between records make the whole list worthless; a record
// that is broken or impossible in itself is refused alone.

import { excerpt, type Machine, type Problem, type Result, refused } from '../../model/index.ts';
import { Machine as WireMachine } from '../../wire/gen/bigfleet/v1alpha1/provider.ts';
import { decodeStrict, machineFromWire, WIRE, WireCursor, WireFormatError } from '../../wire/index.ts';

const MACHINES = 1;
const REVISION = 2;

/** Called for each record: where its entry in the list begins, and where its own bytes begin and end. */
export type VisitRecord = (frame: number, from: number, to: number) => void;

/** Visits every record and returns the revision. Throws `WireFormatError` where the bytes are no list. */
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
 * One record, or every reason why it is impossible. `place` is its number in the list; `look` is shown the metadata, most
 * of which a machine of ours does not carry.
 */
export function readRecord(
  bytes: Uint8Array,
  from: number,
  to: number,
  place: number,
  look?: (metadata: ReadonlyMap<string, string>) => void,
): Result<Machine> {
  let wire: WireMachine;
  try {
    wire = decodeStrict(WireMachine, bytes.subarray(from, to), from);
  } catch (error) {
    if (!(error instanceof WireFormatError)) throw error;
    return refused([{ ...error.problems[0]!, path: `machines[${place}]` }]);
  }
  look?.(wire.shardMetadata);
  return machineFromWire(wire, pathOf(place, wire.id));
}

function pathOf(place: number, id: string): string {
  return `machines[${place}](${excerpt(id)})`;
}

export interface DecodedList {
  readonly machines: readonly Machine[];
  /** Records left out. */
  readonly refused: number;
  /** Why, for the first hundred or so. */
  readonly problems: readonly Problem[];
  /** Empty if the provider has none. */
  readonly revision: Uint8Array;
}

/** A broken provider has a problem for each of its machines; the first ones say what is wrong with it. */
const MAX_PROBLEMS = 100;

/** A whole list as objects. Of two records with one id neither is taken. */
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

/** Some records as the bytes of a `MachineList`: all of them sound, none twice. */
export interface RecordBatch {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly count: number;
}

/** The machines of a batch. */
export function machinesOf({ bytes }: RecordBatch): readonly Machine[] {
  const machines: Machine[] = [];
  walkList(bytes, (_, from, to) => {
    const machine = readRecord(bytes, from, to, machines.length);
    if (!machine.ok) throw new Error('a batch holds sound records only');
    machines.push(machine.value);
  });
  return machines;
}
