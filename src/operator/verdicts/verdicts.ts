// Saying why: keeps the shard's verdicts and turns them into Events on pods, conditions on CapacityRequests and the
// ConfigMap that `bigfleet explain pod` reads. The session's handlers call it; the process calls `tick`.

import type { Clock } from '../../runtime/clock.ts';
import type { NeedVerdicts, RollupReport } from '../../wire/gen/bigfleet/v1alpha1/shard.ts';
import type { CountedRequest, PodsView, RowKey, UncountedObject } from '../demand/contract.ts';
import type { KubeClient } from '../kube/client.ts';
import type { EventSink, ObjectReference, OperatorLog, OperatorMetrics } from '../nodes/contract.ts';
import { KeyedWrites } from '../nodes/keyed-writes.ts';
import type { EpisodeView } from './contract.ts';
import { PodEvents } from './pod-events.ts';
import { RequestConditions } from './request-conditions.ts';
import { RollupRemarks } from './rollup-remarks.ts';
import { VerdictMapWriter } from './verdict-map.ts';
import { VerdictTable } from './verdict-table.ts';

const TICK_MS = 10_000;

export interface VerdictsDeps {
  readonly kube: KubeClient;
  readonly clock: Clock;
  readonly events: EventSink;
  readonly log: OperatorLog;
  readonly metrics: OperatorMetrics;
  readonly cluster: string;
  /** The operator's own. */
  readonly namespace: string;
  /** The operator's own Deployment or pod, for Events about roll-ups. */
  readonly self: ObjectReference;
  readonly pods: Pick<PodsView, 'pendingPods'>;
  readonly table?: VerdictTable;
  readonly requests?: () => Iterable<CountedRequest>;
  readonly uncounted?: () => Iterable<UncountedObject>;
  readonly episodes?: () => Iterable<EpisodeView>;
  readonly rowAt?: (needIndex: number, timestampUnixNanos: bigint) => RowKey | null;
}

export class Verdicts {
  readonly table: VerdictTable;
  readonly #clock: Clock;
  readonly #log: OperatorLog;
  readonly #remarks: RollupRemarks;
  readonly #podEvents: PodEvents;
  readonly #conditions: RequestConditions;
  readonly #map: VerdictMapWriter;
  readonly #writes: KeyedWrites;
  #cancel: (() => void) | null = null;

  constructor(deps: VerdictsDeps) {
    const { kube, clock, events, log, metrics, pods, self } = deps;
    this.#clock = clock;
    this.#log = log;
    this.table = deps.table ?? new VerdictTable(clock);
    this.#writes = new KeyedWrites({ clock, log, metrics });
    this.#remarks = new RollupRemarks({
      ...{ events, log, metrics, pods, self },
      ...(deps.rowAt === undefined ? {} : { rowAt: deps.rowAt }),
    });
    this.#podEvents = new PodEvents({
      ...{ clock, events, pods, verdicts: this.table },
      ...(deps.uncounted === undefined ? {} : { uncounted: deps.uncounted }),
    });
    this.#conditions = new RequestConditions({
      ...{ kube, clock, events, writes: this.#writes, verdicts: this.table },
      requests: deps.requests ?? (() => []),
    });
    this.#map = new VerdictMapWriter({
      ...{ kube, clock, log, metrics, cluster: deps.cluster, namespace: deps.namespace, pods },
      verdicts: this.table,
      problems: () => this.#remarks.problems,
      episodes: deps.episodes ?? (() => []),
    });
  }

  /** Call when this replica leads. */
  start(): void {
    const tick = () => {
      this.tick();
      this.#cancel = this.#clock.after(TICK_MS, tick);
    };
    this.#cancel = this.#clock.after(TICK_MS, tick);
  }

  stop(): void {
    this.#cancel?.();
    this.#cancel = null;
    this.#writes.stop();
  }

  needVerdicts(verdicts: NeedVerdicts): void {
    this.table.apply(verdicts);
  }

  rollupReport(report: RollupReport): void {
    this.#remarks.apply(report);
  }

  disconnected(): void {
    this.table.disconnected();
  }

  /** Never throws: what cannot be said now is said at the next tick. */
  tick(): void {
    try {
      this.#podEvents.tick();
      this.#conditions.tick();
      void this.#map.tick();
    } catch (error) {
      this.#log('error', 'verdicts.tick-failed', { error });
    }
  }
}
