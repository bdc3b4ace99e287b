// The bytes of one record, in two parts that together are a `Machine` message: the described part (changed by a refresh
// only) and the life-cycle part (changed by transitions only). Protobuf allows fields in any order, so either part is
// replaced without decoding the other, and a refresh without changes produces equal bytes. Used by the inventory
// (inventory.ts, inventory-columns.ts) and by listing.ts.

import { BinaryReader, BinaryWriter } from '@bufbuild/protobuf/wire';
import {
  type CapacityType,
  compareText,
  formatQuantity,
  type HostRef,
  MachineState,
  type ResourceVector,
} from '../../model/index.ts';
import { Machine } from '../../wire/gen/bigfleet/v1alpha1/provider.ts';
import type { Offering } from '../backend.ts';
import { MessageWriter } from './message-writer.ts';

/** The life-cycle part of a machine. */
export interface Life {
  readonly state: MachineState;
  readonly host: HostRef | null;
  readonly cluster: string;
  readonly metadata: ReadonlyMap<string, string>;
  readonly lastError: string;
}

/** The life-cycle part of a machine without a host. */
export const QUOTA_SLOT: Life = {
  state: MachineState.Speculative,
  host: null,
  cluster: '',
  metadata: new Map(),
  lastError: '',
};

// Field numbers of `Machine` and `Resources`.
const FIELD = {
  id: 1,
  state: 2,
  host: 3,
  instanceType: 4,
  zone: 5,
  capacityType: 6,
  pricePerHour: 7,
  interruptionProbability: 8,
  resources: 9,
  labels: 10,
  lastError: 12,
  allocatable: 13,
  cluster: 14,
  shardMetadata: 15,
} as const;
const RESOURCES_FIELD = 1;

// One writer per part, because both views of one record are in use at the same time.
const writer = new MessageWriter();
const lifeWriter = new MessageWriter();

/**
 * The described part. Maps are written in key order, so that equal offerings give equal bytes.
 * Returns a view that is valid until the next call.
 */
export function encodeOffering(offering: Offering): Uint8Array {
  writer.reset();
  writer.text(FIELD.id, offering.id);
  writer.text(FIELD.instanceType, offering.instanceType);
  writer.text(FIELD.zone, offering.zone);
  writer.small(FIELD.capacityType, offering.capacityType);
  writer.double(FIELD.pricePerHour, offering.pricePerHour);
  writer.double(FIELD.interruptionProbability, offering.interruptionProbability);
  writeResources(FIELD.resources, offering.resources);
  for (const [key, value] of inOrder(offering.labels)) writer.pair(FIELD.labels, key, value);
  if (offering.allocatable.size > 0) writeResources(FIELD.allocatable, offering.allocatable);
  return writer.written;
}

function writeResources(field: number, vector: ResourceVector): void {
  const start = writer.open(field, 0);
  for (const [name, units] of inOrder(vector)) {
    if (units > 0) writer.pair(RESOURCES_FIELD, name, formatQuantity(units, name));
  }
  writer.close(start);
}

/** The entries of a map in key order. Most maps are in order already and are not copied. */
function inOrder<V>(map: ReadonlyMap<string, V>): Iterable<readonly [string, V]> {
  let last = '';
  for (const key of map.keys()) {
    if (compareText(last, key) > 0) return [...map].sort(([a], [b]) => compareText(a, b));
    last = key;
  }
  return map;
}

/** The described part after a refresh, which may change everything but instance type, zone and capacity type. */
export function refreshOffering(described: Uint8Array, offering: Offering): Uint8Array {
  const { instanceType, zone, capacityType } = Machine.decode(described);
  return encodeOffering({ ...offering, instanceType, zone, capacityType: capacityType as CapacityType });
}

/** The life-cycle part. Returns a view that is valid until the next call. */
export function encodeLife(life: Life): Uint8Array {
  lifeWriter.reset();
  lifeWriter.small(FIELD.state, life.state);
  if (life.host !== null) lifeWriter.pair(FIELD.host, life.host.provider, life.host.ref);
  lifeWriter.text(FIELD.lastError, life.lastError);
  lifeWriter.text(FIELD.cluster, life.cluster);
  for (const [key, value] of life.metadata) lifeWriter.pair(FIELD.shardMetadata, key, value);
  return lifeWriter.written;
}

export function decodeMachine(body: Uint8Array): Machine {
  return Machine.decode(body);
}

/** The id of a record, which is its first field, without decoding the rest. */
export function idOfBody(body: Uint8Array): string {
  const reader = new BinaryReader(body);
  reader.tag();
  return reader.string();
}

/** Decodes the life-cycle part. */
export function decodeLife(bytes: Uint8Array): Life {
  const machine = Machine.decode(bytes);
  return {
    state: machine.state as MachineState,
    host: machine.host ?? null,
    cluster: machine.cluster,
    metadata: machine.shardMetadata,
    lastError: machine.lastError,
  };
}

const MACHINES_TAG = (1 << 3) | 2;

/** Tag and length that precede a record of `bodyBytes` bytes in a `MachineList`. */
export function entryHeader(bodyBytes: number): number[] {
  const header = [MACHINES_TAG];
  let rest = bodyBytes;
  for (; rest > 0x7f; rest >>>= 7) header.push((rest & 0x7f) | 0x80);
  header.push(rest);
  return header;
}

const REVISION_TAG = (2 << 3) | 2;

/** The revision of a `MachineList`, as a field of it. */
export function revisionField(revision: Uint8Array): Uint8Array {
  return new BinaryWriter().uint32(REVISION_TAG).bytes(revision).finish();
}
