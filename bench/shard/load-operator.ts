// A cheap operator for load-generator.ts and the neighbours of `bench hostile`, so that thousands of them fit beside
// the shard they load: roll-ups are assembled from rows encoded in advance, and only the kind of a frame is read unless
// the benchmark waits for its content. It answers bootstrap requests at once, acknowledges reclaims, and reconnects
// when its session is lost.

import { BinaryWriter } from '@bufbuild/protobuf/wire';
import type { MachineState } from '../../src/model/index.ts';
import {
  OperatorMessage,
  ShardDefinition,
  ShardMessage,
} from '../../src/wire/gen/bigfleet/v1alpha1/shard.ts';
import { bindService, clientCredentials, connect, rawBytes, type TlsFiles } from '../../src/wire/index.ts';
import { nowMs } from './processes.ts';

const service = bindService(ShardDefinition, { session: { request: rawBytes, response: rawBytes } });

/** A connection of its own for each cluster, as clusters have. */
const CHANNEL = { 'grpc.use_local_subchannel_pool': 1, 'grpc.keepalive_time_ms': 20_000 };

/** Maximum delay before an operator reconnects; the actual delay is random. */
const REDIAL_MS = 2000;

export interface Ack {
  readonly sentMs: number;
  readonly ackMs: number;
  /** Whether rows differed from the roll-up before; always for the first of a connection. */
  readonly isChanged: boolean;
}

export interface NodeObservation {
  readonly machine: string;
  readonly state: MachineState;
  readonly atMs: number;
}

export interface LoadOperatorParts {
  readonly cluster: string;
  readonly address: string;
  /** null: plaintext. */
  readonly tls?: TlsFiles | null;
  /** Encoded `CapacityNeed` messages. */
  readonly rows: readonly Uint8Array[];
  readonly onAck: (ack: Ack) => void;
  readonly onNode: (event: NodeObservation) => void;
  readonly onLost: (why: string) => void;
}

// First bytes of frames: the tags of their payloads.
const ACK = 0x0a;
const NODE_STATE = 0x22;
const HINT = 0x2a;

const ROLLUP_TAG = 18;
const CLUSTER_TAG = 10;
const TIMESTAMP_TAG = 16;
const NEEDS_TAG = 26;

export class LoadOperator {
  readonly #parts: LoadOperatorParts;
  #stream: { write(frame: Uint8Array): unknown } | null = null;
  readonly #rows: Uint8Array[];
  #body: Uint8Array;
  #isChanged = true;
  /** Roll-ups without an ack so far. */
  #unacked: Omit<Ack, 'ackMs'>[] = [];
  #readsNodeStates = false;
  nodeFrames = 0;

  constructor(parts: LoadOperatorParts) {
    this.#parts = parts;
    this.#rows = [...parts.rows];
    this.#body = bodyOf(this.#rows);
  }

  /** Sends a hello and the whole demand. */
  dial(): void {
    const { address, tls = null } = this.#parts;
    const client = connect(service, address, clientCredentials(address, { tls }), CHANNEL);
    const stream = client.rpc.session();
    stream.on('data', (frame: Uint8Array) => this.#receive(frame));
    stream.on('error', () => {});
    stream.on('status', ({ details }) => {
      client.close();
      this.#stream = null;
      this.#unacked = [];
      this.#parts.onLost(details);
      setTimeout(() => this.dial(), Math.random() * REDIAL_MS);
    });
    this.#stream = stream;
    this.#send({
      $case: 'hello',
      value: { clusterId: this.#parts.cluster, protocolVersion: 'v1alpha1', features: [] },
    });
    this.#isChanged = true;
    this.rollUp();
  }

  /** Replaces rows; they are sent with the next roll-up. */
  change(rows: readonly (readonly [place: number, row: Uint8Array])[]): void {
    for (const [place, row] of rows) this.#rows[place] = row;
    this.#body = bodyOf(this.#rows);
    this.#isChanged = true;
  }

  rollUp(): number {
    const sentMs = nowMs();
    if (this.#stream === null) return sentMs;
    const inner = new BinaryWriter()
      .uint32(CLUSTER_TAG)
      .string(this.#parts.cluster)
      .uint32(TIMESTAMP_TAG)
      .int64(BigInt(Math.round(sentMs)) * 1_000_000n)
      .finish();
    const outer = new BinaryWriter()
      .uint32(ROLLUP_TAG)
      .uint32(inner.length + this.#body.length)
      .finish();
    this.#unacked.push({ sentMs, isChanged: this.#isChanged });
    this.#isChanged = false;
    this.#stream.write(Buffer.concat([outer, inner, this.#body]));
    return sentMs;
  }

  /** Starts to read node states, which were only counted before. */
  readNodeStates(): void {
    this.#readsNodeStates = true;
  }

  #receive(frame: Uint8Array): void {
    const atMs = nowMs();
    if (frame[0] === HINT) return;
    if (frame[0] === NODE_STATE) {
      this.nodeFrames++;
      if (!this.#readsNodeStates) return;
    }
    const { payload } = ShardMessage.decode(frame);
    if (frame[0] === ACK) {
      if (payload?.$case === 'ack' && payload.value.echo === 'rollup') this.#acknowledged(atMs);
    } else if (payload?.$case === 'nodeStateUpdate') {
      const { machineId: machine, state } = payload.value;
      this.#parts.onNode({ machine, state: state as MachineState, atMs });
    } else if (payload?.$case === 'bootstrapRequest') {
      const { requestId } = payload.value;
      const answer = { requestId, userData: BLOB, ttlSeconds: 3600n, error: '' };
      this.#send({ $case: 'bootstrapResponse', value: answer });
    } else if (payload?.$case === 'reclaimInstruction') {
      const { instructionId, nodes } = payload.value;
      this.#send({ $case: 'reclaimAck', value: { instructionId, nodesStarted: nodes.length } });
    }
  }

  /** A superseded roll-up is never acknowledged itself, so an ack settles everything sent so far. */
  #acknowledged(ackMs: number): void {
    for (const sent of this.#unacked) this.#parts.onAck({ ...sent, ackMs });
    this.#unacked = [];
  }

  #send(payload: NonNullable<OperatorMessage['payload']>): void {
    this.#stream?.write(OperatorMessage.encode({ payload }).finish());
  }
}

/** As large as the user data of a real node. */
const BLOB = Buffer.alloc(4096, 'x');

function bodyOf(rows: readonly Uint8Array[]): Uint8Array {
  const writer = new BinaryWriter();
  for (const row of rows) writer.uint32(NEEDS_TAG).bytes(row);
  return writer.finish();
}
