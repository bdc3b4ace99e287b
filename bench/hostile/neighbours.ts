// The neighbours of `bench hostile`: a child process, started by measure.ts, with small clusters on the shard that the
// attacker attacks. They report about once a second, each time another row, so that every roll-up is decoded, made
// durable and acknowledged; the latency of these acks is what the benchmark measures (figures.ts).

import { monitorEventLoopDelay } from 'node:perf_hooks';
import { CapacityNeed } from '../../src/wire/gen/bigfleet/v1alpha1/capacity.ts';
import { aRow } from '../../test/hostile/operator.ts';
import type { Quantiles } from '../quantiles.ts';
import { LAG_RESOLUTION_MS, lagOf } from '../shard/lag.ts';
import { type Ack, LoadOperator } from '../shard/load-operator.ts';
import { type Certificates, neighbourName, type Settings } from './settings.ts';

export interface NeighboursSetup {
  readonly settings: Settings;
  readonly certificates: Certificates | null;
}

export interface NeighboursReport {
  readonly kind: 'report';
  readonly acks: readonly Ack[];
  /** When roll-ups were sent. */
  readonly sentMs: readonly number[];
  /** By reason: number of lost sessions. */
  readonly lost: ReadonlyMap<string, number>;
  readonly lagMs: Quantiles;
}

export type NeighboursMessage =
  | { readonly kind: 'ready' }
  /** Every neighbour has had its first ack. */
  | { readonly kind: 'acked' }
  | NeighboursReport;

export type NeighboursOrder =
  | { readonly kind: 'dial'; readonly address: string }
  /** Requests everything since the last report. */
  | { readonly kind: 'report' };

class Neighbours {
  readonly #setup: NeighboursSetup;
  readonly #send: (message: NeighboursMessage) => void;
  readonly #lag = monitorEventLoopDelay({ resolution: LAG_RESOLUTION_MS });
  readonly #acked = new Set<number>();
  #acks: Ack[] = [];
  #sentMs: number[] = [];
  #lost = new Map<string, number>();
  #lastPriority = 0;

  constructor(setup: NeighboursSetup, send: (message: NeighboursMessage) => void) {
    this.#setup = setup;
    this.#send = send;
    this.#lag.enable();
  }

  handle(order: NeighboursOrder): void {
    if (order.kind === 'report') this.#report();
    else for (let i = 0; i < this.#setup.settings.neighbours; i++) this.#dial(i, order.address);
  }

  #dial(index: number, address: string): void {
    const { settings, certificates } = this.#setup;
    const operator = new LoadOperator({
      cluster: neighbourName(index),
      address,
      tls: certificates?.neighbours[index] ?? null,
      rows: [this.#row()],
      onAck: (ack) => this.#acknowledged(index, ack),
      onNode: () => {},
      onLost: (why) => this.#lost.set(why, (this.#lost.get(why) ?? 0) + 1),
    });
    operator.dial();
    const report = (): void => {
      operator.change([[0, this.#row()]]);
      this.#sentMs.push(operator.rollUp());
    };
    // Spread evenly over the interval, so that they do not wait for each other.
    const offsetMs = (settings.everyMs * index) / settings.neighbours;
    setTimeout(() => setInterval(report, settings.everyMs), offsetMs);
  }

  /** A row that wants no machine; its priority distinguishes it from the previous one. */
  #row(): Uint8Array {
    const row = aRow(++this.#lastPriority, { aggregateResources: new Map([['cpu', '0']]) });
    return CapacityNeed.encode(row).finish();
  }

  #acknowledged(index: number, ack: Ack): void {
    this.#acks.push(ack);
    if (this.#acked.has(index)) return;
    this.#acked.add(index);
    if (this.#acked.size === this.#setup.settings.neighbours) this.#send({ kind: 'acked' });
  }

  #report(): void {
    const lagMs = lagOf(this.#lag);
    this.#send({ kind: 'report', acks: this.#acks, sentMs: this.#sentMs, lost: this.#lost, lagMs });
    this.#lag.reset();
    this.#acks = [];
    this.#sentMs = [];
    this.#lost = new Map();
  }
}

if (import.meta.main) {
  const send = (message: NeighboursMessage): void => void process.send!(message);
  const neighbours = new Neighbours(JSON.parse(process.argv[2]!) as NeighboursSetup, send);
  process.on('message', (order: NeighboursOrder) => neighbours.handle(order));
  process.on('disconnect', () => process.exit());
  send({ kind: 'ready' });
}
