// A load generator of `bench shard`: a child process, started by measure.ts, with the operators of some of the
// clusters. All connect at once, as when their shard restarts; then each sends its demand at its own time within the
// interval. A tenth of the roll-ups has a tenth of its rows changed. With `isProbe` it is one small cluster instead,
// not niced, that reports four times a second and raises its demand on request.

import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Row } from '../../src/demo/workload/rows.ts';
import { Random } from '../../src/runtime/random.ts';
import { CapacityNeed } from '../../src/wire/gen/bigfleet/v1alpha1/capacity.ts';
import { needToWire } from '../../src/wire/index.ts';
import { Workload } from '../../testing/workload/workload.ts';
import { changeRows } from '../../testing/workload/workload-churn.ts';
import type { Quantiles } from '../quantiles.ts';
import { LAG_RESOLUTION_MS, lagOf } from './lag.ts';
import { type Ack, LoadOperator, type NodeObservation } from './load-operator.ts';
import { nowMs } from './processes.ts';
import { fleetOf, type Settings } from './settings.ts';

export interface LoadSetup {
  readonly settings: Settings;
  /** First cluster; `to` is exclusive. */
  readonly from: number;
  readonly to: number;
  readonly isProbe: boolean;
}

export interface LoadReport {
  readonly kind: 'report';
  readonly acks: readonly Ack[];
  readonly nodes: readonly NodeObservation[];
  readonly nodeFrames: number;
  /** By reason: number of lost sessions. */
  readonly lost: ReadonlyMap<string, number>;
  /** Lag of this process: figures of a generator that lagged are not reliable. */
  readonly lagMs: Quantiles;
}

export type LoadMessage =
  | { readonly kind: 'ready'; readonly seconds: number; readonly rows: number; readonly rollupBytes: number }
  /** Every cluster has had its first ack. */
  | { readonly kind: 'acked' }
  | { readonly kind: 'raised'; readonly atMs: number }
  | LoadReport;

export type LoadOrder =
  | { readonly kind: 'dial'; readonly address: string }
  /** Starts roll-ups at their interval, and reads node states. */
  | { readonly kind: 'begin' }
  /** Raises the demand of the probe by one machine. */
  | { readonly kind: 'raise' }
  /** Requests everything since the last report. */
  | { readonly kind: 'report' };

export const PROBE = 'probe';
const PROBE_EVERY_MS = 250;
/** Fraction of the roll-ups that differ from the previous one, and fraction of their rows that do. */
const CHANGED_ROLLUPS = 0.1;
const CHANGED_ROWS = 0.1;

interface Cluster {
  readonly name: string;
  readonly rows: Row[];
  encoded: Uint8Array[];
  operator: LoadOperator | null;
  changes: number;
}

class LoadGenerator {
  readonly #setup: LoadSetup;
  readonly #workload: Workload;
  readonly #random: Random;
  readonly #clusters: readonly Cluster[];
  readonly #send: (message: LoadMessage) => void;
  readonly #lag = monitorEventLoopDelay({ resolution: LAG_RESOLUTION_MS });
  readonly #acked = new Set<string>();
  #acks: Ack[] = [];
  #nodes: NodeObservation[] = [];
  #lost = new Map<string, number>();

  constructor(setup: LoadSetup, send: (message: LoadMessage) => void) {
    this.#setup = setup;
    this.#send = send;
    const { settings, from, to, isProbe } = setup;
    this.#random = new Random(settings.seed, from, to);
    this.#workload = new Workload(fleetOf(settings), settings.seed, 'quiet');
    this.#clusters = isProbe
      ? [this.#cluster(PROBE, [this.#probeRow()])]
      : Array.from({ length: to - from }, (_, i) => {
          const number = from + i;
          return this.#cluster(this.#workload.clusterName(number), this.#workload.planOf(number).rows);
        });
    this.#lag.enable();
  }

  get size(): { readonly rows: number; readonly rollupBytes: number } {
    const [first] = this.#clusters;
    return {
      rows: this.#clusters.reduce((sum, { rows }) => sum + rows.length, 0),
      rollupBytes: first?.encoded.reduce((sum, row) => sum + row.length, 0) ?? 0,
    };
  }

  handle(order: LoadOrder): void {
    if (order.kind === 'dial') this.#dial(order.address);
    if (order.kind === 'begin') this.#begin();
    if (order.kind === 'raise') this.#raise();
    if (order.kind === 'report') this.#report();
  }

  #cluster(name: string, rows: readonly Row[]): Cluster {
    const encoded = rows.map((row) => this.#encode(row, name));
    return { name, rows: [...rows], encoded, operator: null, changes: 0 };
  }

  /** A row that any Idle machine of its kind can serve. */
  #probeRow(): Row {
    const { maker } = this.#workload;
    const { rows } = this.#workload.planOf(0);
    const row = rows.find((each) => !maker.isGang(each) && !each.spread) ?? rows[0]!;
    return { ...row, pods: maker.podsPerMachine(row) };
  }

  #encode(row: Row, cluster: string): Uint8Array {
    return CapacityNeed.encode(needToWire(this.#workload.rowObjects.needOf(row, cluster))).finish();
  }

  #dial(address: string): void {
    for (const cluster of this.#clusters) {
      cluster.operator = new LoadOperator({
        cluster: cluster.name,
        address,
        rows: cluster.encoded,
        onAck: (ack) => this.#acknowledged(cluster.name, ack),
        onNode: (event) => this.#nodes.push(event),
        onLost: (why) => this.#lost.set(why, (this.#lost.get(why) ?? 0) + 1),
      });
      // The operator owns the list from here on.
      cluster.encoded = [];
      cluster.operator.dial();
    }
  }

  #acknowledged(cluster: string, ack: Ack): void {
    this.#acks.push(ack);
    if (this.#acked.has(cluster)) return;
    this.#acked.add(cluster);
    if (this.#acked.size === this.#clusters.length) this.#send({ kind: 'acked' });
  }

  #begin(): void {
    const { intervalMs } = this.#setup.settings;
    const everyMs = this.#setup.isProbe ? PROBE_EVERY_MS : intervalMs;
    for (const cluster of this.#clusters) {
      cluster.operator!.readNodeStates();
      setTimeout(() => {
        setInterval(() => this.#rollUp(cluster), everyMs);
        this.#rollUp(cluster);
      }, this.#random.below(everyMs));
    }
  }

  #rollUp(cluster: Cluster): void {
    if (!this.#setup.isProbe && this.#random.chance(CHANGED_ROLLUPS)) this.#change(cluster);
    cluster.operator!.rollUp();
  }

  #change(cluster: Cluster): void {
    const { name, rows, operator } = cluster;
    const places = changeRows(this.#random, rows, CHANGED_ROWS, ++cluster.changes);
    operator!.change(places.map((place) => [place, this.#encode(rows[place]!, name)]));
  }

  #raise(): void {
    const [{ rows, operator, name }] = this.#clusters as [Cluster];
    const row = rows[0]!;
    rows[0] = { ...row, pods: row.pods + this.#workload.maker.podsPerMachine(row) };
    operator!.change([[0, this.#encode(rows[0], name)]]);
    this.#send({ kind: 'raised', atMs: operator!.rollUp() });
  }

  #report(): void {
    const nodeFrames = this.#clusters.reduce((sum, { operator }) => sum + (operator?.nodeFrames ?? 0), 0);
    const lagMs = lagOf(this.#lag);
    this.#send({ kind: 'report', acks: this.#acks, nodes: this.#nodes, nodeFrames, lost: this.#lost, lagMs });
    this.#lag.reset();
    this.#acks = [];
    this.#nodes = [];
    this.#lost = new Map();
  }
}

if (import.meta.main) {
  const started = nowMs();
  const send = (message: LoadMessage): void => void process.send!(message);
  const generator = new LoadGenerator(JSON.parse(process.argv[2]!) as LoadSetup, send);
  process.on('message', (order: LoadOrder) => generator.handle(order));
  process.on('disconnect', () => process.exit());
  send({ kind: 'ready', seconds: (nowMs() - started) / 1000, ...generator.size });
}
