// Test support: a virtual clock, an in-memory operator, one-line roll-ups, and sessions wired to all of these. Imported
// by tests of src/shard (sessions, demand, storage) and by test/hostile.

import { keptRows, MachineState, type Need, NO_BASE, rowsAfter } from '../../src/model/index.ts';
import { VirtualClock } from '../../src/runtime/virtual-clock.ts';
import type { QuarantinedRollup } from '../../src/shard/demand/cluster-demand.ts';
import type { ControllerEvent } from '../../src/shard/events.ts';
import type {
  Identify,
  Origin,
  SessionLink,
  SessionPort,
  SessionStatus,
} from '../../src/shard/sessions/port.ts';
import { Sessions, type SessionsParts } from '../../src/shard/sessions/sessions.ts';
import { type DemandStore, MemoryDemandStore } from '../../src/shard/storage/demand-store.ts';
import { type CapacityNeed, ClusterCapacityNeeds } from '../../src/wire/gen/bigfleet/v1alpha1/capacity.ts';
import {
  NodeStateUpdate,
  OperatorMessage,
  type ShardMessage,
} from '../../src/wire/gen/bigfleet/v1alpha1/shard.ts';

/** Starts at a time other than 0, so that a default of 0 cannot pass for the current time. */
export function aClock(): VirtualClock {
  return new VirtualClock(1_000_000);
}

type Payload = NonNullable<ShardMessage['payload']>;
export type Frame<K extends Payload['$case']> = Extract<Payload, { $case: K }>['value'];

/** The other end of a session. */
export class Operator implements SessionPort {
  readonly received: ShardMessage[] = [];
  /** Number of frames it accepts before `write` returns `full`. */
  room = Infinity;
  status: SessionStatus | null = null;
  link!: SessionLink;

  write(frame: ShardMessage): 'accepted' | 'full' {
    if (this.status !== null) throw new Error('written to after the end');
    if (this.room === 0) return 'full';
    this.room--;
    this.received.push(frame);
    return 'accepted';
  }

  end(status: SessionStatus): void {
    if (this.status !== null) throw new Error('ended twice');
    this.status = status;
  }

  /** True: the shard has stopped reading from this operator. */
  isPaused = false;

  pause(): void {
    this.isPaused = true;
  }

  resume(): void {
    this.isPaused = false;
  }

  /** Accepts `room` further frames. */
  drain(room = Infinity): void {
    this.room = room;
    this.link.drained();
  }

  send(payload: NonNullable<OperatorMessage['payload']>): void {
    this.link.receive(OperatorMessage.encode({ payload }).finish());
  }

  hello(clusterId: string, features: readonly string[] = []): void {
    const value = { clusterId, protocolVersion: 'v1alpha1', features: [...features] };
    this.send({ $case: 'hello', value });
  }

  rollup(bytes: Uint8Array): void {
    this.link.receive(rollupFrame(bytes));
  }

  answer(requestId: string, text = 'join', error = ''): void {
    const value = { requestId, userData: Buffer.from(text), ttlSeconds: 600n, error };
    this.send({ $case: 'bootstrapResponse', value });
  }

  ackReclaim(instructionId: string): void {
    this.send({ $case: 'reclaimAck', value: { instructionId, nodesStarted: 1 } });
  }

  /** Frames of one kind, in the order of their arrival. */
  got<K extends Payload['$case']>(kind: K): Frame<K>[] {
    return this.received.flatMap(({ payload }) =>
      payload?.$case === kind ? [payload.value as Frame<K>] : [],
    );
  }

  get acks(): string[] {
    return this.got('ack').map(({ echo }) => echo);
  }
}

/** A store whose writes the test resolves or rejects one by one. */
export function aSlowStore(): {
  readonly store: DemandStore;
  readonly writes: readonly PromiseWithResolvers<void>[];
} {
  const memory = new MemoryDemandStore();
  const writes: PromiseWithResolvers<void>[] = [];
  const write = (): Promise<void> => {
    const written = Promise.withResolvers<void>();
    writes.push(written);
    return written.promise;
  };
  return { store: { load: () => memory.load(), write }, writes };
}

/** An `OperatorMessage` around the bytes of a roll-up. */
export function rollupFrame(bytes: Uint8Array): Uint8Array {
  const value = ClusterCapacityNeeds.decode(bytes);
  return OperatorMessage.encode({ payload: { $case: 'rollup', value } }).finish();
}

/** A row in wire form; its priority makes its key unique. */
export function wireNeed(priority: number, changes: Partial<CapacityNeed> = {}): CapacityNeed {
  return {
    requirements: [],
    aggregateResources: new Map([
      ['cpu', '4'],
      ['memory', '8Gi'],
    ]),
    priority,
    spread: [],
    interruptionPenaltyBucket: 0,
    reclamationPenaltyBucket: 0,
    minUnit: new Map([['cpu', '1']]),
    group: '',
    ...changes,
  };
}

let lastTimestamp = 0n;

/** A roll-up of these rows, or of this number of rows, with a unique timestamp. */
export function rollupOf(clusterId: string, needs: readonly CapacityNeed[] | number): Uint8Array {
  const rows = typeof needs === 'number' ? Array.from({ length: needs }, (_, i) => wireNeed(i)) : needs;
  const timestampUnixNanos = ++lastTimestamp;
  return ClusterCapacityNeeds.encode({
    clusterId,
    timestampUnixNanos,
    needs: [...rows],
    nodeFacts: undefined,
  }).finish();
}

export function nodeState(machineId: string, changes: Partial<NodeStateUpdate> = {}): NodeStateUpdate {
  return {
    ...NodeStateUpdate.decode(new Uint8Array()),
    supersedesKey: `node:${machineId}`,
    machineId,
    state: MachineState.Configured,
    ...changes,
  };
}

interface LogLine {
  readonly level: string;
  readonly event: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

export interface Bench {
  readonly sessions: Sessions;
  readonly clock: VirtualClock;
  readonly store: DemandStore;
  readonly events: ControllerEvent[];
  readonly lines: LogLine[];
  /** A connection that has not sent a hello. */
  readonly dial: (identify?: Identify, origin?: Origin) => Operator;
  /** A session whose hello was sent. */
  readonly greet: (cluster: string) => Operator;
  /** Runs the queue of roll-ups. */
  readonly settle: () => Promise<void>;
  /** The last demand of a cluster that was posted to the controller. */
  readonly demandOf: (cluster: string) => readonly Need[] | undefined;
  readonly kinds: () => string[];
}

export async function bench(
  given: Partial<SessionsParts> & { readonly clock?: VirtualClock } = {},
): Promise<Bench> {
  const clock = given.clock ?? aClock();
  const store = given.store ?? new MemoryDemandStore();
  const events: ControllerEvent[] = [];
  const lines: LogLine[] = [];
  const sessions = await Sessions.open({
    controller: { post: (event) => events.push(event) },
    shardEpoch: 7n,
    log: (level, event, fields) => lines.push({ level, event, fields }),
    ...given,
    clock,
    store,
    // No rate limit by default; tests of the limit set it.
    limits: { rollupIntervalMs: 0, ...given.limits },
  });
  const dial = (identify: Identify = () => null, origin?: Origin): Operator => {
    const operator = new Operator();
    operator.link = sessions.connect(operator, identify, origin);
    return operator;
  };
  return {
    sessions,
    clock,
    store,
    events,
    lines,
    dial,
    greet: (cluster) => {
      const operator = dial();
      operator.hello(cluster);
      return operator;
    },
    settle: () => clock.advance(0),
    demandOf: (cluster) => demandIn(events, cluster).at(-1),
    kinds: () => events.map(({ kind }) => kind),
  };
}

/** The complete demand of a cluster after each of its roll-ups. */
function demandIn(events: readonly ControllerEvent[], cluster: string): (readonly Need[])[] {
  const demand: (readonly Need[])[] = [];
  let version = NO_BASE;
  for (const event of events) {
    if (event.kind !== 'demand' || event.delta.cluster !== cluster) continue;
    const before = demand.at(-1) ?? [];
    keptRows(event.delta, { version, rows: before.length });
    demand.push(rowsAfter(before, event.delta));
    version = event.delta.version;
  }
  return demand;
}

/** A bench with the operator of cluster c1 and a function that sends a roll-up of c1 and waits until it was read. */
export async function reporting(given?: Parameters<typeof bench>[0]) {
  const made = await bench(given);
  const operator = made.greet('c1');
  const report = async (needs: readonly CapacityNeed[] | number, from = operator) => {
    from.rollup(rollupOf('c1', needs));
    await made.settle();
  };
  return { ...made, operator, report };
}

/** Acks of roll-ups. */
export function acked(operator: Operator): number {
  return operator.acks.filter((echo) => echo === 'rollup').length;
}

/** By priority: how long after the start of the clock a row of c1 was first seen. */
export function firstSeen({ demandOf }: Bench): Readonly<Record<string, number>> {
  const start = aClock().now();
  return Object.fromEntries(
    demandOf('c1')!.map(({ profile, firstSeenMs }) => [profile.priority, firstSeenMs - start]),
  );
}

/** Roll-ups that the guard has quarantined. */
export function quarantinedIn({ reports }: Sessions): readonly QuarantinedRollup[] {
  return reports.flatMap(({ held }) => held ?? []);
}
