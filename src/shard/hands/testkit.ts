// Test support: a clock that moves by hand, an operator in memory, roll-ups in a line, and hands with all of these.
// Imported by tests only.

import { MachineState, type Need, VirtualClock } from '../../model/index.ts';
import { type CapacityNeed, ClusterCapacityNeeds } from '../../wire/gen/bigfleet/v1alpha1/capacity.ts';
import {
  NodeStateUpdate,
  OperatorMessage,
  type ShardMessage,
} from '../../wire/gen/bigfleet/v1alpha1/shard.ts';
import type { BrainEvent } from '../events.ts';
import type { HeldRollup } from './cluster-demand.ts';
import { type DemandStore, MemoryDemandStore } from './demand-store.ts';
import { Hands, type HandsParts } from './hands.ts';
import type { Identify, Origin, SessionLink, SessionPort, SessionStatus } from './port.ts';

/** A clock that stands at a time that is nobody's zero. */
export function aClock(): VirtualClock {
  return new VirtualClock(1_000_000);
}

type Payload = NonNullable<ShardMessage['payload']>;
export type Frame<K extends Payload['$case']> = Extract<Payload, { $case: K }>['value'];

/** The other end of a session. */
export class Operator implements SessionPort {
  readonly received: ShardMessage[] = [];
  /** How many more frames it takes before it is full. */
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

  /** Whether the shard reads what it sends. */
  isPaused = false;

  pause(): void {
    this.isPaused = true;
  }

  resume(): void {
    this.isPaused = false;
  }

  /** Reads on. */
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

/** A store whose writes end when the test says so, each as it likes. */
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

/** A row as it stands on the wire; told apart from others by its priority. */
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

/** A roll-up of these rows, or of so many, with a timestamp of its own. */
export function rollupOf(clusterId: string, needs: readonly CapacityNeed[] | number): Uint8Array {
  const rows = typeof needs === 'number' ? Array.from({ length: needs }, (_, i) => wireNeed(i)) : needs;
  const timestampUnixNanos = ++lastTimestamp;
  return ClusterCapacityNeeds.encode({ clusterId, timestampUnixNanos, needs: [...rows] }).finish();
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
  readonly hands: Hands;
  readonly clock: VirtualClock;
  readonly store: DemandStore;
  readonly events: BrainEvent[];
  readonly lines: LogLine[];
  /** A connection that has said nothing yet. */
  readonly dial: (identify?: Identify, origin?: Origin) => Operator;
  /** A session that has said hello. */
  readonly greet: (cluster: string) => Operator;
  /** Lets waiting roll-ups be read. */
  readonly settle: () => Promise<void>;
  /** The last demand the brain was told of a cluster. */
  readonly demandOf: (cluster: string) => readonly Need[] | undefined;
  readonly kinds: () => string[];
}

export async function bench(
  given: Partial<HandsParts> & { readonly clock?: VirtualClock } = {},
): Promise<Bench> {
  const clock = given.clock ?? aClock();
  const store = given.store ?? new MemoryDemandStore();
  const events: BrainEvent[] = [];
  const lines: LogLine[] = [];
  const hands = await Hands.open({
    brain: { post: (event) => events.push(event) },
    shardEpoch: 7n,
    log: (level, event, fields) => lines.push({ level, event, fields }),
    ...given,
    clock,
    store,
    // Tests report as fast as they like; those of the pace set it.
    limits: { rollupIntervalMs: 0, ...given.limits },
  });
  const dial = (identify: Identify = () => null, origin?: Origin): Operator => {
    const operator = new Operator();
    operator.link = hands.connect(operator, identify, origin);
    return operator;
  };
  return {
    hands,
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
    demandOf: (cluster) =>
      events
        .flatMap((event) => (event.kind === 'demand' && event.cluster === cluster ? [event.needs] : []))
        .at(-1),
    kinds: () => events.map(({ kind }) => kind),
  };
}

/** What a cluster that reports is tested with: its operator, and a way to let it report and see what came of it. */
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

/** Roll-ups that the guard holds. */
export function heldIn({ reports }: Hands): readonly HeldRollup[] {
  return reports.flatMap(({ held }) => held ?? []);
}
