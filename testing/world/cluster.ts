// One cluster of a simulated world: its demand, its operator, and the faults injected into it. Made by world.ts.

import {
  type BootstrapHabit,
  type Dialer,
  type DrainNote,
  memoryDialer,
  SimOperator,
} from '../../src/demo/operator/index.ts';
import {
  BUCKET_UNSPECIFIED,
  makeProfile,
  type Need,
  Operator,
  type Requirement,
  type ResourceVector,
  WhenUnsatisfiable,
  ZONE_KEY,
} from '../../src/model/index.ts';
import type { Clock } from '../../src/runtime/clock.ts';
import type { Random } from '../../src/runtime/random.ts';
import type { Sessions } from '../../src/shard/index.ts';
import { OperatorMessage } from '../../src/wire/gen/bigfleet/v1alpha1/shard.ts';
import type { ClusterPlan, RowPlan, WorldEvent } from './plan.ts';
import { BYTES_PER_MILLICORE, POOL_LABEL } from './sim-provider.ts';

export interface ClusterParts {
  readonly plan: ClusterPlan;
  readonly clock: Clock;
  readonly random: Random;
  /** Transit time of the next frame. */
  readonly frameMs: () => number;
  readonly sessions: () => Sessions | null;
  readonly connected: (epoch: bigint) => void;
}

type Breakage = Extract<WorldEvent, { readonly kind: 'malformed' }>['how'];

const ROW_LABEL = 'sim/row';
const RACK_KEY = 'topology.bigfleet/rack';
const TIMES = {
  rollupMs: 4000,
  blobMs: [20, 600],
  reconnect: { baseMs: 300, maxMs: 3000 },
  helloMs: 4000,
  resyncMs: 20_000,
} as const;

export class SimCluster {
  readonly name: string;
  readonly #parts: ClusterParts;
  #rows: RowPlan[];
  #tail: RowPlan | null = null;
  #isCollapsed = false;
  #breakage: Breakage | null = null;
  #habit: BootstrapHabit = { kind: 'answer' };
  #operator: SimOperator;
  /** On the nodes, so that they outlive the operator. */
  readonly #drainNotes = new Map<string, DrainNote>();
  /** Roll-ups sent by earlier processes of this operator. */
  #sentBefore = 0;

  constructor(parts: ClusterParts) {
    this.name = parts.plan.name;
    this.#parts = parts;
    this.#rows = [...parts.plan.rows];
    this.#operator = this.#newOperator();
  }

  get operator(): SimOperator {
    return this.#operator;
  }

  get rollupsSent(): number {
    return this.#sentBefore + this.#operator.counts.rollupsSent;
  }

  get rows(): readonly RowPlan[] {
    return this.#rows;
  }

  start(): void {
    this.#operator.start();
  }

  stop(): void {
    this.#operator.stop();
  }

  /** Replaces the operator with a new process that has no state. */
  restart(): void {
    this.#operator.stop();
    this.#sentBefore += this.#operator.counts.rollupsSent;
    this.#operator = this.#newOperator();
    this.#operator.start();
  }

  setBootstrap(habit: BootstrapHabit): void {
    this.#habit = habit;
    this.#operator.setBootstrap(habit);
  }

  /** Sets the demand of one row, in machines. */
  want(row: number, machines: number): void {
    const number = row % this.#rows.length;
    this.#rows[number] = { ...this.#rows[number]!, machines };
    this.#operator.setDemand(this.#needs());
  }

  /** Restores the demand of the plan. */
  wantAsPlanned(): void {
    this.#rows = [...this.#parts.plan.rows];
    this.#operator.setDemand(this.#needs());
  }

  /** A row for machines of the tail pool; it competes only with the same row of other clusters. */
  wantTail(priority: number, machines: number): void {
    this.#tail = {
      priority,
      machines,
      podCpu: 4000,
      kind: 'plain',
      group: 'tail',
      penalty: BUCKET_UNSPECIFIED,
      ...{ slackCpu: 0, canBorrow: false },
    };
    this.#operator.setDemand(this.#needs());
  }

  collapse(isCollapsed: boolean): void {
    this.#isCollapsed = isCollapsed;
    this.#operator.setDemand(this.#needs());
  }

  /** Corrupts the next roll-up. */
  breakNext(how: Breakage): void {
    this.#breakage = how;
  }

  #newOperator(): SimOperator {
    const { clock, random, connected, plan } = this.#parts;
    const operator = new SimOperator({
      ...{ cluster: this.name, clock, random, times: TIMES, dialer: this.#dialer() },
      drains: plan.drains,
      drainNotes: this.#drainNotes,
      onEvent: (event) => {
        if (event.kind === 'connected') connected(event.shardEpoch);
      },
    });
    operator.setBootstrap(this.#habit);
    operator.setDemand(this.#needs());
    return operator;
  }

  /** Dials the current process of the shard; roll-ups may be corrupted in transit. */
  #dialer(): Dialer {
    const { sessions, clock, frameMs } = this.#parts;
    const dialer = memoryDialer({ sessions, clock, delayMs: frameMs });
    return {
      open: (end) => {
        const link = dialer.open(end);
        return {
          isBlocked: false,
          send: (frame) => link.send(this.#broken(frame)),
          close: () => link.close(),
        };
      },
    };
  }

  #broken(frame: Uint8Array): Uint8Array {
    const how = this.#breakage;
    if (how === null) return frame;
    const { payload } = OperatorMessage.decode(frame);
    if (payload?.$case !== 'rollup') return frame;
    this.#breakage = null;
    if (how === 'bytes') return frame.subarray(0, frame.length - 3);
    const { value } = payload;
    const broken =
      how === 'cluster'
        ? { ...value, clusterId: 'another' }
        : {
            ...value,
            needs: value.needs.map((need) => ({
              ...need,
              aggregateResources: new Map([['cpu', 'much']]),
            })),
          };
    return OperatorMessage.encode({ payload: { $case: 'rollup', value: broken } }).finish();
  }

  #needs(): readonly Need[] {
    if (this.#isCollapsed) return [];
    const rows = this.#tail === null ? this.#rows : [...this.#rows, this.#tail];
    return rows.filter(({ machines }) => machines > 0).map((row) => this.#needOf(row));
  }

  #needOf(row: RowPlan): Need {
    const { priority, podCpu, kind, group, penalty, canBorrow } = row;
    const pool = group === 'tail' ? 'tail' : 'general';
    const requirements: Requirement[] = [{ key: POOL_LABEL, operator: Operator.In, values: [pool] }];
    // Every machine meets it; without a group it distinguishes rows of equal profile.
    if (canBorrow) requirements.push({ key: ROW_LABEL, operator: Operator.NotIn, values: [group] });
    if (kind === 'gang') requirements.push({ key: RACK_KEY, operator: Operator.Same, values: [] });
    const whenUnsatisfiable = WhenUnsatisfiable.DoNotSchedule;
    const spread = kind === 'spread' ? [{ topologyKey: ZONE_KEY, maxSkew: 1, whenUnsatisfiable }] : [];
    return {
      cluster: this.name,
      profile: makeProfile({ requirements, spread, priority, interruptionBucket: penalty }),
      group: canBorrow ? '' : group,
      aggregate: amountsOf(row, cpuOf(row)),
      minUnit: amountsOf(row, podCpu),
      firstSeenMs: 0,
    };
  }
}

/** By pod: millicores for which it wants as much memory as machines have for one. */
const CPU_PER_MEMORY: ReadonlyMap<number, number> = new Map([
  [500, 2],
  [1000, 1],
]);

/** Rows want as much memory for their cpu as machines have, a half of it, or a quarter. */
function amountsOf({ podCpu }: RowPlan, cpu: number): ResourceVector {
  return new Map([
    ['cpu', cpu],
    ['memory', (cpu * BYTES_PER_MILLICORE) / (CPU_PER_MEMORY.get(podCpu) ?? 4)],
  ]);
}

/** Millicores that a row wants: never less than its largest pod. */
function cpuOf({ machines, podCpu, slackCpu }: RowPlan): number {
  return Math.max(podCpu, machines * 4000 - slackCpu);
}
