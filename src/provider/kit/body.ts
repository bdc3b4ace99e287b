// The bytes of one record, in two parts that together are a `Machine` message: what the cloud says of it (changed by a
// refresh alone) and where it is in its life (changed by transitions alone). Protobuf lets fields stand in any order, so
// either part is replaced without decoding the other, and a refresh that brings nothing new shows as equal bytes.

import { BinaryReader, BinaryWriter } from '@bufbuild/protobuf/wire';
import {
  type CapacityType,
  compareText,
  formatResources,
  type HostRef,
  MachineState,
  type ResourceVector,
} from '../../model/index.ts';
import { Machine, type Resources } from '../../wire/gen/bigfleet/v1alpha1/provider.ts';
import type { Offering } from '../backend.ts';

/** Where a machine is in its life. */
export interface Life {
  readonly state: MachineState;
  readonly host: HostRef | null;
  readonly cluster: string;
  readonly metadata: ReadonlyMap<string, string>;
  readonly lastError: string;
}

/** A machine that exists as a quota slot only. */
export const UNBORN: Life = {
  state: MachineState.Speculative,
  host: null,
  cluster: '',
  metadata: new Map(),
  lastError: '',
};

const BLANK = Machine.decode(new Uint8Array());

/** The first part. Maps are written in the order of their keys, so that equal offerings give equal bytes. */
export function encodeOffering(offering: Offering): Uint8Array {
  const { allocatable } = offering;
  return Machine.encode({
    ...BLANK,
    id: offering.id,
    instanceType: offering.instanceType,
    zone: offering.zone,
    capacityType: offering.capacityType,
    pricePerHour: offering.pricePerHour,
    interruptionProbability: offering.interruptionProbability,
    resources: wireResources(offering.resources),
    allocatable: allocatable.size > 0 ? wireResources(allocatable) : undefined,
    labels: new Map([...offering.labels].sort(([a], [b]) => compareText(a, b))),
  }).finish();
}

/** The first part again, with what a refresh may bring; type, zone and capacity type stay as they were. */
export function refreshOffering(described: Uint8Array, offering: Offering): Uint8Array {
  const { instanceType, zone, capacityType } = Machine.decode(described);
  return encodeOffering({ ...offering, instanceType, zone, capacityType: capacityType as CapacityType });
}

/** The second part. */
export function encodeLife(life: Life): Uint8Array {
  return Machine.encode({
    ...BLANK,
    state: life.state,
    host: life.host ?? undefined,
    cluster: life.cluster,
    lastError: life.lastError,
    shardMetadata: life.metadata as Map<string, string>,
  }).finish();
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

/** Reads the second part. */
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

/** What stands before a record of this length in a `MachineList`. */
export function frameHeader(bodyBytes: number): Uint8Array {
  return new BinaryWriter().uint32(MACHINES_TAG).uint32(bodyBytes).finish();
}

const REVISION_TAG = (2 << 3) | 2;

/** The revision of a `MachineList`, as a field of it. */
export function revisionField(revision: Uint8Array): Uint8Array {
  return new BinaryWriter().uint32(REVISION_TAG).bytes(revision).finish();
}

function wireResources(vector: ResourceVector): Resources {
  return { resources: new Map(Object.entries(formatResources(vector))) };
}
