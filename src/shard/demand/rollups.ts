// Roll-ups of all clusters, from the frame to the ack. A roll-up that repeats the accepted one is acknowledged as soon
// as that one is on disk. The others are queued (rollup-queue.ts) and read a few milliseconds at a time, so that
// clusters that change at once, or send worst-case frames, do not delay the acks of the rest. Owned by
// sessions/sessions.ts, on the main thread.

import { excerpt, type NeedKey, type Problem } from '../../model/index.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { RollupReport } from '../../wire/gen/bigfleet/v1alpha1/shard.ts';
import { finished, type IntakeLimits, type RollupSize, SharedParts } from '../../wire/index.ts';
import type { ControllerEvent } from '../events.ts';
import type { SessionCounters } from '../sessions/counters.ts';
import type { SessionLimits } from '../sessions/limits.ts';
import type { SessionLog } from '../sessions/log.ts';
import type { DemandChanges, DemandStore } from '../storage/demand-store.ts';
import {
  ClusterDemand,
  type QuarantinedRollup,
  type ReportView,
  refusedWhole,
  type Taken,
} from './cluster-demand.ts';
import { RollupQueue, type RollupWork } from './rollup-queue.ts';

/** Problems per log line; the API returns more of them. */
const MAX_LOGGED_PROBLEMS = 10;

/** Some thousand rows. A session whose roll-up is larger is not read from until that roll-up is begun. */
const LARGE_BYTES = 1024 * 1024;

/** Rows per write, and characters of their keys: a few milliseconds of work for the store. */
const WRITE_ROWS = 512;
const WRITE_CHARACTERS = 512 * 1024;

/** Interval between sweeps for keys that have been absent for too long. */
const SWEEP_INTERVAL_MS = 60_000;

export interface RollupParts {
  readonly clock: Clock;
  readonly store: DemandStore;
  readonly post: (event: ControllerEvent) => void;
  readonly log: SessionLog;
  readonly limits: SessionLimits;
  readonly counters: SessionCounters;
  /** The store has failed: nothing more will be accepted. */
  readonly onFailure: (error: unknown) => void;
}

export interface DemandLoad {
  /** Rows of all accepted roll-ups, by weight. */
  readonly rows: number;
  /** Bytes of all accepted and quarantined roll-ups. */
  readonly bytes: number;
  /** Number and bytes of roll-ups that are queued or being read. */
  readonly waiting: number;
  readonly waitingBytes: number;
}

/** The session that is notified when its roll-up has been handled. */
export interface Reporter {
  readonly cluster: string;
  acknowledgeRollup(timestampUnixNanos: bigint): void;
  /** Called for refused roll-ups too, which are not acknowledged. */
  reportRollup(report: RollupReport): void;
  /** Stops the delivery of frames until `resume`. */
  pause(): void;
  resume(): void;
}

type RollupSteps = ReturnType<RollupWork['steps']>;

export class Rollups {
  readonly #parts: RollupParts;
  readonly #clusters = new Map<string, ClusterDemand>();
  readonly #shared = new SharedParts();
  readonly #queue: RollupQueue;
  /** By cluster: the last in-flight write. */
  readonly #writing = new Map<string, Promise<boolean>>();
  #rows = 0;
  #bytes = 0;
  #cancelSweep: () => void = () => {};
  #hasFailed = false;
  /** By cluster: the last logged remarks; absent if there are none. */
  readonly #logged = new Map<string, string>();
  /** The last part passed to `#writePart`; parts are written one after another. */
  #lastPart: Promise<unknown> = Promise.resolve();

  private constructor(parts: RollupParts) {
    this.#parts = parts;
    const { clock, limits, counters } = parts;
    this.#queue = new RollupQueue({
      clock,
      limits,
      onSuperseded: () => counters.rollupsSuperseded++,
      onShed: (work) => this.#shed(work),
    });
  }

  static async open(parts: RollupParts): Promise<Rollups> {
    const rollups = new Rollups(parts);
    const { baselines, seen } = await parts.store.load();
    for (const row of baselines) rollups.#demandOf(row.cluster).restoreBaseline(row);
    // `FirstSeen` keeps absent keys longest absent first.
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
    const demand = this.#demandOf(cluster);
    const timestampUnixNanos = this.#queue.has(cluster) ? null : demand.repeats(bytes);
    if (timestampUnixNanos !== null) {
      void this.#settle(cluster, { kind: 'unchanged', timestampUnixNanos, facts: null }, reporter);
      return;
    }
    const steps = (): RollupSteps => this.#read(demand, reporter, bytes);
    this.#queue.add({ cluster, bytes: bytes.length, steps, begun: () => reporter.resume() });
    // A newer roll-up would only supersede this one, and receiving it would delay the other clusters.
    if (bytes.length > LARGE_BYTES && this.#queue.isWaiting(cluster)) reporter.pause();
  }

  /** Refuses a roll-up whose frame was dropped before it was read. */
  refuseUnread(reporter: Reporter, problem: Problem): void {
    void this.#settle(reporter.cluster, refusedWhole([problem], 0n), reporter);
  }

  get load(): DemandLoad {
    const { length: waiting, bytes: waitingBytes } = this.#queue;
    return { rows: this.#rows, bytes: this.#bytes, waiting, waitingBytes };
  }

  /** One view per known cluster. */
  views(): readonly ReportView[] {
    return [...this.#clusters.values()].map(({ view }) => view);
  }

  /**
   * Makes a quarantined roll-up the demand of its cluster. Resolves to false if none is quarantined, or it did not become
   * the demand.
   */
  async acceptQuarantined(cluster: string): Promise<boolean> {
    this.#queue.finish(cluster);
    const demand = this.#clusters.get(cluster);
    const steps = demand?.acceptQuarantined(() => this.#parts.clock.now(), this.#limitsOf(demand)) ?? null;
    if (demand === undefined || steps === null) return false;
    return await this.#settle(cluster, finished(this.#weighed(demand, steps)), null);
  }

  /**
   * Quarantines all collapsed roll-ups of a cluster until the demand is back or `acceptQuarantined` is called. Resolves to
   * false if none is quarantined, or the refusal could not be written.
   */
  async refuseQuarantined(cluster: string): Promise<boolean> {
    const changes = this.#clusters.get(cluster)?.refuseQuarantined() ?? null;
    return changes !== null && (await this.#writeOf(cluster, changes));
  }

  /** Posts the accepted roll-up of a cluster as a whole, for a controller that has another one than its last delta needs. */
  async repost(cluster: string): Promise<void> {
    for (;;) {
      this.#queue.finish(cluster);
      const written = this.#writing.get(cluster);
      if (written === undefined) break;
      if (!(await written)) return;
    }
    const whole = this.#clusters.get(cluster)?.whole() ?? null;
    if (whole !== null) this.#parts.post({ kind: 'demand', ...whole });
  }

  close(): void {
    this.#cancelSweep();
    this.#queue.close();
  }

  #demandOf(cluster: string): ClusterDemand {
    const known = this.#clusters.get(cluster);
    if (known !== undefined) return known;
    const demand = new ClusterDemand(cluster, this.#shared);
    this.#clusters.set(cluster, demand);
    return demand;
  }

  #shed({ cluster, bytes }: RollupWork): void {
    // The operator receives no ack and retries; by then the queue is shorter.
    this.#parts.counters.rollupsShed++;
    this.#parts.log('warn', 'rollup-shed', {
      cluster: excerpt(cluster),
      bytes,
      waiting: this.#queue.length,
      waitingBytes: this.#queue.bytes,
    });
  }

  *#read(demand: ClusterDemand, reporter: Reporter, bytes: Uint8Array): RollupSteps {
    const steps = demand.take(bytes, () => this.#parts.clock.now(), this.#limitsOf(demand));
    const taken = yield* this.#weighed(demand, steps);
    void this.#settle(reporter.cluster, yield* this.#writtenAhead(taken), reporter);
  }

  /**
   * Writes all but the first part of the row changes ahead of the baseline, one part of one cluster at a time. So a write
   * that another cluster's ack waits for is queued behind a few milliseconds of work at most, however many rows change. If
   * the process ends in between, the store has first-seen times of rows whose roll-up was never accepted.
   */
  *#writtenAhead(taken: Taken): Generator<Promise<unknown> | undefined, Taken> {
    if (taken.kind !== 'accepted') return taken;
    const { baseline, seen = [], forgotten = [] } = taken.changes;
    const [seenAtEnd = [], ...seenAhead] = partsOf(seen, ({ key }) => key);
    const [forgottenAtEnd = [], ...forgottenAhead] = partsOf(forgotten, (key) => key);
    for (const part of seenAhead) yield this.#writePart({ seen: part });
    for (const part of forgottenAhead) yield this.#writePart({ forgotten: part });
    const rest = { seen: seenAtEnd, forgotten: forgottenAtEnd };
    return { ...taken, changes: baseline === undefined ? rest : { ...rest, baseline } };
  }

  #writePart(part: DemandChanges): Promise<unknown> {
    this.#lastPart = this.#lastPart.then(() => this.#write(part));
    return this.#lastPart;
  }

  #limitsOf(demand: ClusterDemand): IntakeLimits {
    return { maxRows: this.#parts.limits.rollupRows, roomFor: (size) => this.#roomFor(demand, size) };
  }

  /** Why there is no room for a roll-up beside the demand of all other clusters; null if there is. */
  #roomFor(demand: ClusterDemand, { weight, keptBytes }: RollupSize): Problem | null {
    const { demandRows, demandBytes } = this.#parts.limits;
    const rows = demandRows - (this.#rows - demand.weight);
    if (weight > rows) return noRoom(weight, Math.max(0, rows), 'rows');
    const bytes = demandBytes - (this.#bytes - demand.bytes);
    return keptBytes > bytes ? noRoom(keptBytes, Math.max(0, bytes), 'bytes') : null;
  }

  /** Runs the steps and applies the change of weight and bytes after each one to the sums over all clusters. */
  *#weighed<T>(demand: ClusterDemand, steps: Generator<undefined, T>): Generator<undefined, T> {
    for (;;) {
      const { weight, bytes } = demand;
      const step = steps.next();
      this.#rows += demand.weight - weight;
      this.#bytes += demand.bytes - bytes;
      if (step.done === true) return step.value;
      yield;
    }
  }

  /** Resolves to true if the roll-up was accepted, unchanged or quarantined, and its changes are durable. */
  async #settle(cluster: string, taken: Taken, reporter: Reporter | null): Promise<boolean> {
    const { clock, counters, log, post } = this.#parts;
    const demand = this.#demandOf(cluster);
    const name = excerpt(cluster);
    if (reporter !== null) demand.note(taken, clock.now());
    // Made before the first await: the report must describe this roll-up and not a later one.
    const report = demand.reportOn(taken);
    switch (taken.kind) {
      case 'unchanged': {
        counters.rollupsUnchanged++;
        const { bytes } = demand;
        const changes = demand.noteUnchanged();
        this.#bytes += demand.bytes - bytes;
        // The write of the accepted roll-up may still be in flight.
        const written = changes === null ? this.#writing.get(cluster) : this.#writeOf(cluster, changes);
        if (written !== undefined && !(await written)) return false;
        if (taken.facts !== null) post({ kind: 'node-facts', cluster, facts: taken.facts });
        break;
      }
      case 'refused':
        counters.rollupsRefused++;
        if (taken.problems.first[0]?.code === 'BF_DEMAND_LIMIT') counters.rollupsShed++;
        log('error', 'rollup-refused', {
          cluster: name,
          total: taken.problems.total,
          problems: taken.problems.first.slice(0, MAX_LOGGED_PROBLEMS),
        });
        reporter?.reportRollup(report);
        return false;
      case 'quarantined': {
        counters.rollupsQuarantined++;
        log('warn', 'rollup-held', describeQuarantined(taken.quarantined));
        // Acks are not numbered: the operator may take this one for the previous roll-up's, whose write may be in flight.
        const written = this.#writing.get(cluster);
        if (written !== undefined && !(await written)) return false;
        break;
      }
      case 'accepted':
        counters.rollupsAccepted++;
        this.#logRemarks(name, demand, taken.rowsSetAside);
        if (taken.shrunkFrom !== null) {
          const fields = {
            cluster: name,
            rows: taken.delta.origin.length,
            rowsBefore: taken.shrunkFrom.rows,
          };
          log('warn', 'rollup-shrunk', fields);
        }
        if (!(await this.#writeOf(cluster, taken.changes))) return false;
        post({ kind: 'demand', delta: taken.delta, rowsSetAside: taken.rowsSetAside });
        if (taken.facts !== null) post({ kind: 'node-facts', cluster, facts: taken.facts });
    }
    reporter?.acknowledgeRollup(taken.timestampUnixNanos);
    reporter?.reportRollup(report);
    return true;
  }

  /** Logs the remarks when they change, not with every roll-up. */
  #logRemarks(name: string, demand: ClusterDemand, rowsSetAside: number): void {
    const { first, total } = demand.view.remarks;
    const problems = first.slice(0, MAX_LOGGED_PROBLEMS);
    const text = JSON.stringify([total, problems.map(({ code, index }) => [code, index])]);
    if (this.#logged.get(name) === text || (total === 0 && !this.#logged.has(name))) return;
    if (total === 0) this.#logged.delete(name);
    else this.#logged.set(name, text);
    this.#parts.log('warn', 'rollup-remarks', { cluster: name, rowsSetAside, total, problems });
  }

  /** Writes take effect in call order, so when the last in-flight one has ended, all earlier ones have. */
  #writeOf(cluster: string, changes: DemandChanges): Promise<boolean> {
    const written = this.#write(changes);
    this.#writing.set(cluster, written);
    void written.then(() => {
      if (this.#writing.get(cluster) === written) this.#writing.delete(cluster);
    });
    return written;
  }

  /** Resolves to true if the changes are durable. One failure is final: memory is then ahead of the store. */
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

/** Splits rows into parts: each ends at WRITE_ROWS rows, or when its keys have reached WRITE_CHARACTERS. */
function partsOf<T>(rows: readonly T[], keyOf: (row: T) => NeedKey): readonly (readonly T[])[] {
  const parts: T[][] = [];
  let characters = Number.POSITIVE_INFINITY;
  for (const row of rows) {
    const last = parts.at(-1);
    if (last === undefined || last.length >= WRITE_ROWS || characters >= WRITE_CHARACTERS) {
      parts.push([row]);
      characters = 0;
    } else last.push(row);
    const { fingerprint, group } = keyOf(row);
    characters += fingerprint.length + group.length;
  }
  return parts;
}

function noRoom(found: number, left: number, what: string): Problem {
  const message = `${found} ${what}, and beside the other clusters there is room for ${left}.`;
  return { code: 'BF_DEMAND_LIMIT', path: 'needs', message };
}

function describeQuarantined({ cluster, count, isRefused, extent, baseline }: QuarantinedRollup) {
  return {
    cluster: excerpt(cluster),
    count,
    isRefused,
    rows: extent.rows,
    rowsBefore: baseline.rows,
    totals: Object.fromEntries(extent.totals),
    totalsBefore: Object.fromEntries(baseline.totals),
  };
}
