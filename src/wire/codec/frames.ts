// Opens one frame of an operator session. A roll-up stays bytes, because most roll-ups repeat the last one and
// rollup.ts can tell without decoding; the other payloads are small and are read here, field by field: a text becomes a
// string only after its length has been checked, because any of them may be as long as the frame. Session requests
// reach this file raw: see `rawBytes` in service.ts. Called by the shard's sessions (sessions/session.ts).

import { NameLimits } from '../../model/index.ts';
import {
  type BootstrapBlobResponse,
  type Hello,
  type NodeReport,
  NodeReport_Kind,
  type ReclaimAck,
} from '../gen/bigfleet/v1alpha1/shard.ts';
import { readInt64, WIRE, WireCursor } from './cursor.ts';
import { decodeText } from './decode.ts';
import { WireFormatError } from './errors.ts';

export type OperatorFrame =
  | { readonly kind: 'hello'; readonly value: Hello }
  /** A hello that breaks a limit. Nothing of it has been decoded. */
  | { readonly kind: 'refusedHello'; readonly problem: string }
  | { readonly kind: 'rollup'; readonly bytes: Uint8Array }
  | { readonly kind: 'bootstrapResponse'; readonly value: BootstrapBlobResponse }
  | { readonly kind: 'reclaimAck'; readonly value: ReclaimAck }
  /** `value.kind` is unspecified for numbers that this version does not know. */
  | { readonly kind: 'nodeReport'; readonly value: NodeReport }
  /** An answer whose id is longer than any that a shard makes, so that it answers nothing. */
  | { readonly kind: 'unknownAnswer' }
  /** No payload this version knows. Not an error: the session logs it and goes on. */
  | { readonly kind: 'unknown' };

/** What the small payloads may bring, in bytes as they are on the wire. */
export const FrameLimits = {
  /** A whole hello. */
  hello: 64 * 1024,
  /** Features that are kept of a hello, and the longest of them; others are ignored. */
  features: 16,
  feature: 32,
  /** Sixteen hexadecimal digits. */
  requestId: 16,
  /** An epoch, a dash and a number, both to the base 36, have at most 27. */
  instructionId: 64,
  /** Why an operator cannot answer; the rest is not decoded. */
  error: 1000,
  /** Texts of a node report; the rest of a longer one is not decoded. `blockedBy` is a kind, a namespace and a name. */
  nodeName: 253,
  providerId: 1024,
  reason: 500,
  blockedBy: 317,
  /** Blockers that are kept of a node report; others are ignored. */
  blockers: 20,
  /** Fields of a frame or a small payload. They have one to four; millions would keep the reader busy for seconds. */
  fields: 1000,
} as const;

const FIELD = { hello: 1, rollup: 2, bootstrapResponse: 3, reclaimAck: 4, nodeReport: 1000 } as const;
const MEMBERS: ReadonlySet<number> = new Set(Object.values(FIELD));
const HELLO = { clusterId: 1, protocolVersion: 3, features: 1000 } as const;
const BOOTSTRAP = { requestId: 1, userData: 2, ttlSeconds: 3, error: 4 } as const;
const RECLAIM = { instructionId: 1, nodesStarted: 2 } as const;
const NODE_REPORT = {
  ...{ machineId: 1, kind: 2, instructionId: 3, nodeName: 4, providerId: 5, reason: 6, blockedBy: 7 },
} as const;
const REPORT_KINDS: ReadonlySet<number> = new Set(Object.values(NodeReport_Kind));

/**
 * Follows the protobuf rules for a oneof: the last member on the wire wins, and a member that is repeated with
 * no other in between is merged, which for embedded messages means that their bytes are joined.
 * `bytes` of a roll-up is a view into `frame` wherever there is nothing to join.
 */
export function readOperatorFrame(frame: Uint8Array): OperatorFrame {
  const payload: Payload = { bytes: frame, from: 0, to: 0 };
  let member = 0;
  let pieces: Uint8Array[] = [];
  for (const field of fieldsOf({ bytes: frame, from: 0, to: frame.length })) {
    if (field.type !== WIRE.bytes || !MEMBERS.has(field.field)) continue;
    if (field.field !== member) {
      member = field.field;
      pieces = [];
    } else {
      pieces.push(frame.subarray(payload.from, payload.to));
    }
    payload.from = field.valueStart;
    payload.to = field.pos;
  }
  if (pieces.length === 0) return readMember(member, payload);
  const bytes = Buffer.concat([...pieces, frame.subarray(payload.from, payload.to)]);
  return readMember(member, { bytes, from: 0, to: bytes.length });
}

/** A part of some bytes; offsets in errors count from the first of these. */
interface Payload {
  readonly bytes: Uint8Array;
  from: number;
  to: number;
}

function readMember(member: number, payload: Payload): OperatorFrame {
  switch (member) {
    case FIELD.hello:
      return readHello(payload);
    case FIELD.rollup:
      return { kind: 'rollup', bytes: payload.bytes.subarray(payload.from, payload.to) };
    case FIELD.bootstrapResponse:
      return readBootstrapResponse(payload);
    case FIELD.reclaimAck:
      return readReclaimAck(payload);
    case FIELD.nodeReport:
      return readNodeReport(payload);
    default:
      return { kind: 'unknown' };
  }
}

function readHello(payload: Payload): OperatorFrame {
  const { bytes, from, to } = payload;
  if (to - from > FrameLimits.hello) return refusedHello('hello', to - from, FrameLimits.hello);
  let clusterId = '';
  let protocolVersion = '';
  const features: string[] = [];
  for (const { field, type, valueStart, pos } of fieldsOf(payload)) {
    if (type !== WIRE.bytes) continue;
    const length = pos - valueStart;
    if (field === HELLO.clusterId) {
      if (length > NameLimits.clusterId) return refusedHello('cluster id', length, NameLimits.clusterId);
      clusterId = decodeText(bytes, valueStart, pos);
    } else if (field === HELLO.protocolVersion) {
      protocolVersion = decodeText(bytes, valueStart, pos);
    } else if (field === HELLO.features && length <= FrameLimits.feature) {
      if (features.length < FrameLimits.features) features.push(decodeText(bytes, valueStart, pos));
    }
  }
  return { kind: 'hello', value: { clusterId, protocolVersion, features } };
}

function refusedHello(what: string, bytes: number, limit: number): OperatorFrame {
  return { kind: 'refusedHello', problem: `The ${what} has ${bytes} bytes, the limit is ${limit}.` };
}

function readBootstrapResponse(payload: Payload): OperatorFrame {
  const { bytes } = payload;
  const value = { requestId: '', userData: new Uint8Array() as Uint8Array, ttlSeconds: 0n, error: '' };
  let isOurs = true;
  for (const { field, type, valueStart, pos } of fieldsOf(payload)) {
    if (field === BOOTSTRAP.ttlSeconds && type === WIRE.varint)
      value.ttlSeconds = readInt64(bytes, valueStart);
    if (type !== WIRE.bytes) continue;
    if (field === BOOTSTRAP.requestId) {
      isOurs = pos - valueStart <= FrameLimits.requestId;
      value.requestId = isOurs ? decodeText(bytes, valueStart, pos) : '';
    } else if (field === BOOTSTRAP.userData) {
      value.userData = bytes.subarray(valueStart, pos);
    } else if (field === BOOTSTRAP.error) {
      value.error = decodeText(bytes, valueStart, endOfText(bytes, valueStart, pos, FrameLimits.error));
    }
  }
  return isOurs ? { kind: 'bootstrapResponse', value } : { kind: 'unknownAnswer' };
}

function readReclaimAck(payload: Payload): OperatorFrame {
  const value = { instructionId: '', nodesStarted: 0 };
  let isOurs = true;
  for (const { field, type, valueStart, pos } of fieldsOf(payload)) {
    if (field === RECLAIM.nodesStarted && type === WIRE.varint)
      value.nodesStarted = Number(BigInt.asIntN(32, readInt64(payload.bytes, valueStart)));
    if (field !== RECLAIM.instructionId || type !== WIRE.bytes) continue;
    isOurs = pos - valueStart <= FrameLimits.instructionId;
    value.instructionId = isOurs ? decodeText(payload.bytes, valueStart, pos) : '';
  }
  return isOurs ? { kind: 'reclaimAck', value } : { kind: 'unknownAnswer' };
}

/** A machine id or instruction id that is longer than any of a shard makes the report one about nothing. */
function readNodeReport(payload: Payload): OperatorFrame {
  const { bytes } = payload;
  const texts = { machineId: '', instructionId: '', nodeName: '', providerId: '', reason: '' };
  const blockedBy: string[] = [];
  let kind: NodeReport_Kind = NodeReport_Kind.KIND_UNSPECIFIED;
  const isOurs = { machineId: true, instructionId: true };
  for (const { field, type, valueStart, pos } of fieldsOf(payload)) {
    if (field === NODE_REPORT.kind && type === WIRE.varint) kind = reportKind(readInt64(bytes, valueStart));
    if (type !== WIRE.bytes) continue;
    const text = (maxBytes: number): string =>
      decodeText(bytes, valueStart, endOfText(bytes, valueStart, pos, maxBytes));
    if (field === NODE_REPORT.machineId || field === NODE_REPORT.instructionId) {
      const [name, limit] =
        field === NODE_REPORT.machineId
          ? (['machineId', NameLimits.machineId] as const)
          : (['instructionId', FrameLimits.instructionId] as const);
      isOurs[name] = pos - valueStart <= limit;
      texts[name] = isOurs[name] ? decodeText(bytes, valueStart, pos) : '';
    } else if (field === NODE_REPORT.nodeName) texts.nodeName = text(FrameLimits.nodeName);
    else if (field === NODE_REPORT.providerId) texts.providerId = text(FrameLimits.providerId);
    else if (field === NODE_REPORT.reason) texts.reason = text(FrameLimits.reason);
    else if (field === NODE_REPORT.blockedBy && blockedBy.length < FrameLimits.blockers)
      blockedBy.push(text(FrameLimits.blockedBy));
  }
  if (!isOurs.machineId || !isOurs.instructionId) return { kind: 'unknownAnswer' };
  return { kind: 'nodeReport', value: { ...texts, kind, blockedBy } };
}

function reportKind(value: bigint): NodeReport_Kind {
  const number = Number(BigInt.asIntN(32, value));
  return REPORT_KINDS.has(number) ? (number as NodeReport_Kind) : NodeReport_Kind.KIND_UNSPECIFIED;
}

/** Where a text ends that is cut to a number of bytes, never within a character. */
function endOfText(bytes: Uint8Array, from: number, to: number, maxBytes: number): number {
  if (to - from <= maxBytes) return to;
  let end = from + maxBytes;
  // Bytes that continue a character begin with the bits 10.
  while (end > from && (bytes[end]! & 0xc0) === 0x80) end--;
  return end;
}

/** The fields of a message, each in the same cursor. Throws on malformed bytes, and on more fields than a peer needs. */
function* fieldsOf({ bytes, from, to }: Payload): Generator<WireCursor, void> {
  const cursor = new WireCursor().reset(bytes, from, to);
  for (let fields = 0; cursor.next(); fields++) {
    if (fields === FrameLimits.fields)
      throw new WireFormatError(cursor.start, `at most ${FrameLimits.fields} fields`);
    yield cursor;
  }
}
