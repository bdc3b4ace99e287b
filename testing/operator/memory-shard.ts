// Test support: the shard's end of a session in memory, on the clock of the test. It records what the operator sends and
// sends what a test says. Used by tests of src/operator/session and src/operator/process.

import type { Dialer, Link, LinkEnd } from '../../src/operator/session/link.ts';
import { rowFromWire } from '../../src/wire/codec/need.ts';
import type { CapacityNeed, ClusterCapacityNeeds } from '../../src/wire/gen/bigfleet/v1alpha1/capacity.ts';
import {
  type BootstrapRequest,
  OperatorMessage,
  type ShardMessage,
} from '../../src/wire/gen/bigfleet/v1alpha1/shard.ts';

type Sent = NonNullable<OperatorMessage['payload']>;
type ValueOf = { readonly [S in Sent as S['$case']]: S['value'] };
type Told = NonNullable<ShardMessage['payload']>;

const ALL_FEATURES = ['rollup-report', 'verdicts', 'drain-report', 'withdraw', 'unknown-feature'];

/** One connection, from the shard's side. */
export class MemoryConnection implements Link {
  readonly sent: Sent[] = [];
  isBlocked = false;
  isPaused = false;
  isClosed = false;
  readonly attempt: number;
  readonly #end: LinkEnd;

  constructor(end: LinkEnd, attempt: number) {
    this.#end = end;
    this.attempt = attempt;
  }

  send(frame: Uint8Array): void {
    if (this.isBlocked && this.sent.length > 0) throw new Error('sent on a blocked link');
    this.sent.push(OperatorMessage.decode(frame).payload!);
  }

  setPaused(isPaused: boolean): void {
    this.isPaused = isPaused;
  }

  close(): void {
    this.isClosed = true;
  }

  tell(payload: Told | undefined): void {
    if (!this.isClosed) this.#end.receive({ payload });
  }

  ackHello(features: readonly string[] = ALL_FEATURES): void {
    this.#ack('hello', 0n, features);
  }

  ackRollup(rollupTimestampUnixNanos = 0n): void {
    this.#ack('rollup', rollupTimestampUnixNanos, []);
  }

  block(isBlocked: boolean): void {
    this.isBlocked = isBlocked;
    if (!isBlocked && !this.isClosed) this.#end.drained();
  }

  /** The connection is lost. */
  drop(why = 'cut'): void {
    if (!this.isClosed) this.#end.closed(why);
  }

  of<K extends keyof ValueOf>(kind: K): ValueOf[K][] {
    const found: unknown = this.sent.filter((each) => each.$case === kind).map(({ value }) => value);
    return found as ValueOf[K][];
  }

  get rollups(): ClusterCapacityNeeds[] {
    return this.of('rollup');
  }

  #ack(echo: string, rollupTimestampUnixNanos: bigint, features: readonly string[]): void {
    const value = { echo, coordinatorTerm: 0n, shardEpoch: 7n, features, rollupTimestampUnixNanos };
    this.tell({ $case: 'ack', value });
  }
}

/** A dialer whose connections a test controls. */
export class MemoryShard implements Dialer {
  readonly connections: MemoryConnection[] = [];

  open(end: LinkEnd, attempt: number): Link {
    const connection = new MemoryConnection(end, attempt);
    this.connections.push(connection);
    return connection;
  }

  get last(): MemoryConnection {
    return this.connections.at(-1)!;
  }
}

export function bootstrapRequest(given: Partial<BootstrapRequest> = {}): BootstrapRequest {
  return {
    requestId: 'r1',
    requirements: [],
    clusterId: 'web',
    machineId: 'm-1',
    labels: new Map(),
    taints: [],
    instanceType: '',
    zone: '',
    capacityType: 0,
    providerId: '',
    ...given,
  };
}

/** The fingerprint that a shard computes for a row. */
export function fingerprintOf(need: CapacityNeed): string {
  const row = rowFromWire(need, 'web');
  if (row.kind !== 'need') throw new Error(`the row is ${row.kind}: ${JSON.stringify(row.remarks)}`);
  return row.need.profile.fingerprint;
}
