// Roll-ups of all clusters, from the frame to the ack. One that repeats the last is acknowledged as soon as that is on
// disk; the others wait for their turn, at most one of each cluster and the newest, and are read a few milliseconds at a
// time, so that two hundred clusters that change at once do not keep the acks of the rest waiting.

import { type Clock, printable } from '../../model/index.ts';
import { SharedParts } from '../../wire/index.ts';
import type { BrainEvent } from '../events.ts';
import { ClusterDemand, type HeldRollup, type ReportView, type Room, type Taken } from './cluster-demand.ts';
import type { HandsCounters } from './counters.ts';
import type { DemandChanges, DemandStore } from './demand-store.ts';
import { type HandsLimits, TURN_BUDGET_MS } from './limits.ts';
import type { HandsLog } from './log.ts';

/** How often keys are looked for that have been absent too long. */
const SWEEP_INTERVAL_MS = 60_000;

export interface RollupParts {
  readonly clock: Clock;
  readonly store: DemandStore;
  readonly post: (event: BrainEvent) => void;
  readonly log: HandsLog;
  readonly limits: HandsLimits;
  readonly counters: HandsCounters;
  /** The store has failed: nothing more will be accepted. */
  readonly onFailure: (error: unknown) => void;
}

/** What demand costs at the moment. */
export interface DemandLoad {
  /** Of all accepted roll-ups. */
  readonly rows: number;
  /** Of all accepted and held ones. */
  readonly bytes: number;
  /** Roll-ups that wait to be read, and their bytes. */
  readonly waiting: number;
  readonly waitingBytes: number;
}

/** Who is told when a roll-up has been handled. */
export interface Reporter {
  readonly cluster: string;
  acknowledgeRollup(): void;
}

interface Waiting {
  readonly reporter: Reporter;
  readonly bytes: Uint8Array;
}

export class Rollups {
  readonly #parts: RollupParts;
  readonly #clusters = new Map<string, ClusterDemand>();
  readonly #shared = new SharedParts();
  /** By cluster, in the order of their turns. */
  readonly #waiting = new Map<string, Waiting>();
  /** By cluster: the last write that is under way. */
  readonly #writing = new Map<string, Promise<boolean>>();
  #waitingBytes = 0;
  #rows = 0;
  #bytes = 0;
  #cancelTurn: (() => void) | null = null;
  #cancelSweep: () => void = () => {};
  #hasFailed = false;

  private constructor(parts: RollupParts) {
    this.#parts = parts;
  }

  static async open(parts: RollupParts): Promise<Rollups> {
    const rollups = new Rollups(parts);
    const { baselines, seen } = await parts.store.load();
    for (const row of baselines) rollups.#demandOf(row.cluster).restoreBaseline(row);
    // Longest absent first, as they are kept.
    const byAbsence = [...seen].sort((a, b) => (a.absentSinceMs ?? 0) - (b.absentSinceMs ?? 0));
    for (const row of byAbsence) rollups.#demandOf(row.key.cluster).restoreSeen(row);
    rollups.#sweepLater();
    return rollups;
  }

  /** Whether there is room to remember the demand of a cluster. */
  admits(cluster: string): boolean {
    return this.#clusters.has(cluster) || this.#clusters.size < this.#parts.limits.clusters;
  }

  receive(reporter: Reporter, bytes: Uint8Array): void {
    const { cluster } = reporter;
    const { counters } = this.#parts;
    const older = this.#waiting.get(cluster);
    if (older === undefined && this.#demandOf(cluster).repeats(bytes)) {
      void this.#settle(cluster, { kind: 'unchanged' }, reporter);
      return;
    }
    const waitingBytes = this.#waitingBytes - (older?.bytes.length ?? 0) + bytes.length;
    if (waitingBytes > this.#parts.limits.waitingBytes) {
      // The operator gets no ack and sends it again; by then many of those that wait have been read.
      counters.rollupsShed++;
      this.#parts.log('warn', 'rollup-shed', { cluster: printable(cluster), waiting: this.#waiting.size });
      return;
    }
    if (older !== undefined) counters.rollupsSuperseded++;
    this.#waitingBytes = waitingBytes;
    this.#waiting.set(cluster, { reporter, bytes });
    this.#takeTurnLater();
  }

  get load(): DemandLoad {
    const waiting = this.#waiting.size;
    return { rows: this.#rows, bytes: this.#bytes, waiting, waitingBytes: this.#waitingBytes };
  }

  /** Every cluster that demand is remembered of. */
  views(): readonly ReportView[] {
    return [...this.#clusters.values()].map(({ view }) => view);
  }

  /** Makes a held roll-up the demand of its cluster. Resolves to false if none is held, or it is not the demand now. */
  async acceptHeld(cluster: string): Promise<boolean> {
    const demand = this.#clusters.get(cluster);
    const taken =
      demand === undefined
        ? null
        : this.#weighed(demand, (room) => demand.acceptHeld(this.#parts.clock.now(), room));
    return taken !== null && (await this.#settle(cluster, taken, null));
  }

  /**
   * Holds a roll-up and all like it until the demand is back or somebody accepts one. False if none is held, or the
   * refusal could not be written down.
   */
  async refuseHeld(cluster: string): Promise<boolean> {
    const changes = this.#clusters.get(cluster)?.refuseHeld() ?? null;
    return changes !== null && (await this.#writeOf(cluster, changes));
  }

  close(): void {
    this.#cancelSweep();
    this.#cancelTurn?.();
    this.#waiting.clear();
    this.#waitingBytes = 0;
  }

  #demandOf(cluster: string): ClusterDemand {
    const known = this.#clusters.get(cluster);
    if (known !== undefined) return known;
    const demand = new ClusterDemand(cluster, this.#shared);
    this.#clusters.set(cluster, demand);
    return demand;
  }

  #takeTurnLater(): void {
    this.#cancelTurn ??= this.#parts.clock.after(0, () => {
      this.#cancelTurn = null;
      this.#takeTurn();
    });
  }

  #takeTurn(): void {
    const { clock } = this.#parts;
    const startedMs = clock.now();
    for (const [cluster, { reporter, bytes }] of this.#waiting) {
      this.#waiting.delete(cluster);
      this.#waitingBytes -= bytes.length;
      const demand = this.#demandOf(cluster);
      const taken = this.#weighed(demand, (room) => demand.take(bytes, clock.now(), room));
      void this.#settle(cluster, taken, reporter);
      if (clock.now() - startedMs >= TURN_BUDGET_MS) break;
    }
    if (this.#waiting.size > 0) this.#takeTurnLater();
  }

  /** Lets a cluster take what there is room for beside all others, and keeps the sums. */
  #weighed<T>(demand: ClusterDemand, take: (room: Room) => T): T {
    const { limits } = this.#parts;
    this.#rows -= demand.rows;
    this.#bytes -= demand.bytes;
    const taken = take({
      rollupRows: limits.rollupRows,
      rows: limits.demandRows - this.#rows,
      bytes: limits.demandBytes - this.#bytes,
    });
    this.#rows += demand.rows;
    this.#bytes += demand.bytes;
    return taken;
  }

  /** Whether the roll-up was taken, to count or to be held, and what must be remembered of it is safe. */
  async #settle(cluster: string, taken: Taken, reporter: Reporter | null): Promise<boolean> {
    const { clock, counters, log, post } = this.#parts;
    const demand = this.#demandOf(cluster);
    const name = printable(cluster);
    if (reporter !== null) demand.note(taken, clock.now());
    switch (taken.kind) {
      case 'unchanged': {
        counters.rollupsUnchanged++;
        const changes = this.#weighed(demand, () => demand.noteUnchanged());
        // What it repeats may not be on disk yet.
        const written = changes === null ? this.#writing.get(cluster) : this.#writeOf(cluster, changes);
        if (written !== undefined && !(await written)) return false;
        break;
      }
      case 'refused':
        counters.rollupsRefused++;
        if (taken.problems[0]?.code === 'BF_DEMAND_LIMIT') counters.rollupsShed++;
        log('error', 'rollup-refused', { cluster: name, problems: taken.problems });
        return false;
      case 'held': {
        counters.rollupsHeld++;
        log('warn', 'rollup-held', describeHeld(taken.held));
        // An ack has no number, so it may be taken for that of the roll-up before, which may not be on disk yet.
        const written = this.#writing.get(cluster);
        if (written !== undefined && !(await written)) return false;
        break;
      }
      case 'accepted':
        counters.rollupsAccepted++;
        if (taken.shrunkFrom !== null) {
          const fields = { cluster: name, rows: taken.needs.length, rowsBefore: taken.shrunkFrom.rows };
          log('warn', 'rollup-shrunk', fields);
        }
        if (!(await this.#writeOf(cluster, taken.changes))) return false;
        post({ kind: 'demand', cluster, needs: taken.needs });
    }
    reporter?.acknowledgeRollup();
    return true;
  }

  /** Writes take effect in their order, so the last one that is under way stands for those before it. */
  #writeOf(cluster: string, changes: DemandChanges): Promise<boolean> {
    const written = this.#write(changes);
    this.#writing.set(cluster, written);
    void written.then(() => {
      if (this.#writing.get(cluster) === written) this.#writing.delete(cluster);
    });
    return written;
  }

  /** Whether the changes are safe. The first failure is the last: what is in memory is ahead of what is remembered. */
  async #write(changes: DemandChanges): Promise<boolean> {
    try {
      await this.#parts.store.write(changes);
      return !this.#hasFailed;
    } catch (error) {
      if (!this.#hasFailed) {
        this.#hasFailed = true;
        this.#parts.counters.storeFailures++;
        this.#parts.log('error', 'store-failed', { error });
        this.#parts.onFailure(error);
      }
      return false;
    }
  }

  #sweepLater(): void {
    const { clock } = this.#parts;
    this.#cancelSweep = clock.after(SWEEP_INTERVAL_MS, () => {
      for (const demand of this.#clusters.values()) {
        const changes = demand.forget(clock.now());
        if (changes !== null) void this.#write(changes);
      }
      this.#sweepLater();
    });
  }
}

function describeHeld({ cluster, count, isRefused, extent, baseline }: HeldRollup) {
  return {
    cluster: printable(cluster),
    count,
    isRefused,
    rows: extent.rows,
    rowsBefore: baseline.rows,
    totals: Object.fromEntries(extent.totals),
    totalsBefore: Object.fromEntries(baseline.totals),
  };
}
