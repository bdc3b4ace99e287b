// Phase 1 over the free machines: rows are served one by one in rank order, or by several lanes at once with exactly
// that result. Lanes propose, the broker commits, and at the barrier rows are settled in rank order: committed claims
// are adopted, all other rows are served then. See docs/internals/engine.md, "Lanes". Called by solve.ts.

import type { ReadonlyColumn } from '../../collections/table.ts';
import { Credit } from '../assign/credits.ts';
import { domainsOf, settleWhole } from '../assign/gang.ts';
import { RowKind } from '../assign/ranked-rows.ts';
import { beginShort, serveWithUnhosted } from '../assign/serve.ts';
import { prefetch, WaitingRows } from '../assign/waiting-rows.ts';
import type { Cycle } from '../cycle.ts';
import { conflictFraction, MODES } from '../stats.ts';
import { lanesThatPay, MOST_CONFLICTS } from './balance.ts';
import { Broker, type BrokerCounts, brokerMemory, RowStatus } from './broker.ts';
import { ConflictKeys } from './conflict-keys.ts';
import { Lane, type LaneWork, modeOf, proposalOf } from './lane.ts';
import type { WorkerPool } from './worker-pool.ts';

/** Picks which of `lanes` lanes takes the next step. All lanes then run on one thread, in a reproducible order. */
export type Schedule = (lanes: number) => number;

export interface LaneOptions {
  /** 'auto': as many lanes as pay off. */
  readonly lanes: number | 'auto';
  readonly retries: number;
  readonly schedule?: Schedule | undefined;
}

/** Rows prefetched together, while the batch prefetched before is served. */
const AHEAD = 16;
/** Cycles to wait before lanes are tried again: demand changes shape slowly. */
const PAUSE = 100;

export class Lanes {
  readonly #cycle: Cycle;
  readonly #workerPool: WorkerPool;
  readonly #options: LaneOptions;
  readonly #pending = new WaitingRows();
  /** Remaining cycles that use one lane, since several had too many conflicts. */
  #pause = 0;
  /** Sum of all prefetched values. Public, so that the reads do not look unused and are not optimized away. */
  prefetched = 0;

  constructor(cycle: Cycle, workerPool: WorkerPool, options: LaneOptions) {
    this.#cycle = cycle;
    this.#workerPool = workerPool;
    this.#options = options;
  }

  /** Serves the rows that need free machines, in rank order. */
  serve(): void {
    const cycle = this.#cycle;
    const order = this.#pending.inOrder(cycle);
    const lanes = this.#count(order);
    cycle.stats.lanes = lanes;
    if (lanes === 1) {
      for (let i = 0; i < order.length; i++) {
        if (i % AHEAD === 0) this.prefetched += prefetch(cycle, order, i + AHEAD, i + 2 * AHEAD);
        this.#serveAlone(order[i]!);
      }
      return;
    }
    const { retries } = this.#options;
    const { clusters, patterns } = cycle.fleet;
    const patternCount = patterns.size;
    const bucketCount = patternCount + clusters.size;
    const memory = brokerMemory(order.length, cycle.claims.claimedBy.length, bucketCount, retries);
    const { accelerators, ignoredAccelerators, poolOrder } = cycle.options;
    const work: LaneWork = {
      memory,
      order: shared(order),
      passStart: cycle.claims.count,
      patternCount,
      poolOptions: { accelerators, ignoredAccelerators, poolOrder },
    };
    this.#run(lanes, work);
    const conflictKeys = new ConflictKeys(cycle, order, patternCount);
    const broker = new Broker(memory, (slot) => conflictKeys.keysOf(slot));
    this.#note(broker.counts);
    if (MODES.some((mode) => conflictFraction(cycle.stats.modes[mode]) > MOST_CONFLICTS)) this.#pause = PAUSE;
    settle(cycle, broker, conflictKeys, order);
  }

  /** Serves a row without concurrent lanes: its picks are committed as proposed. */
  #serveAlone(rankedRow: number): void {
    const cycle = this.#cycle;
    const from = cycle.claims.count;
    const startMs = cycle.stats.rowMs();
    serveWithUnhosted(cycle, rankedRow);
    if (cycle.claims.count > from) cycle.stats.committed(MODES[modeOf(cycle, rankedRow)]!, startMs);
  }

  #count(order: Uint32Array): number {
    const { lanes } = this.#options;
    // An explained row examines every machine, which only the cycle's own thread supports.
    if (this.#cycle.explains || order.length < 2 || this.#cycle.options.sharing === 'on') return 1;
    if (lanes !== 'auto') return lanes;
    if (this.#pause > 0) {
      this.#pause--;
      return 1;
    }
    return lanesThatPay(this.#cycle, order.length, this.#workerPool.ready);
  }

  #run(lanes: number, work: LaneWork): void {
    const { schedule } = this.#options;
    if (schedule === undefined) {
      this.#workerPool.drive(lanes, work);
      return;
    }
    const all = Array.from({ length: lanes }, () => new Lane(this.#cycle, work));
    const running = new Set(all);
    while (running.size > 0) {
      const first = schedule(lanes);
      // A lane that has nothing to do yields to the next one.
      for (let i = first; i < first + lanes; i++) {
        const lane = all[i % lanes]!;
        if (running.has(lane) && !lane.step()) running.delete(lane);
        if (running.has(lane) && !lane.idle) break;
      }
    }
  }

  #note({ commits, conflicts, displacements, exhausted, proposals, retried }: BrokerCounts): void {
    for (const [i, mode] of MODES.entries()) {
      const stats = this.#cycle.stats.modes[mode];
      stats.proposals += proposals[i]!;
      stats.commits += commits[i]!;
      stats.conflicts += conflicts[i]!;
      stats.displacements += displacements[i]!;
      stats.exhausted += exhausted[i]!;
      stats.recommits += retried[i]!;
    }
  }
}

/** The barrier: in rank order, adopts what lanes have committed and serves all other rows. */
function settle(cycle: Cycle, broker: Broker, conflictKeys: ConflictKeys, order: Uint32Array): void {
  for (const [row, rankedRow] of order.entries()) {
    const committed = broker.statusOf(row) === RowStatus.Committed;
    if (committed && takeOver(cycle, rankedRow, broker.claimsOf(row), broker.creditsOf(row))) continue;
    const from = cycle.claims.count;
    serveWithUnhosted(cycle, rankedRow);
    const machines = cycle.claims.slots.subarray(from, cycle.claims.count);
    if (committed && equal(machines, broker.claimsOf(row))) continue;
    // Worse-ranked rows that were solved with a different view of this one must be served again as well.
    const view = { observed: [], clock: broker.clock };
    broker.settle(proposalOf(cycle, conflictKeys, row, rankedRow, [...machines], 0, view));
  }
}

/** Claims for a row what a lane has found for it. Returns false, with no claim left, if that does not cover the row. */
function takeOver(cycle: Cycle, rankedRow: number, machines: Int32Array, credited: number): boolean {
  const { fleet, rankedRows, unfilled } = cycle;
  // The reason why a row is short, or a gang wants nothing, is known only after serving it here.
  if (machines.length === 0) return false;
  const from = cycle.claims.count;
  const pattern = cycle.patternOf(rankedRow);
  if (cycle.credits.outcome[rankedRow] === Credit.Short) beginShort(cycle, rankedRow);
  else {
    cycle.beginUnfilled(rankedRow);
    cycle.claims.openCredits(rankedRow);
    for (const slot of machines.subarray(0, credited)) {
      cycle.pass.credit(rankedRow, slot, pattern.fits(fleet.machines.classOf[slot]!));
    }
  }
  cycle.claims.openLater(rankedRow);
  for (const slot of machines.subarray(credited)) cycle.pass.take(rankedRow, slot);
  if (!unfilled.covered) {
    cycle.pass.takeBack(rankedRow, from);
    return false;
  }
  cycle.pass.enter(rankedRow, from);
  if (rankedRows.kind[rankedRow] === RowKind.Gang) {
    settleWhole(cycle, rankedRow, domainsOf(cycle, rankedRow).of(fleet.machines.classOf[machines[0]!]!));
  }
  cycle.blockers.noteTaken(rankedRow);
  return true;
}

/** A copy in shared memory. */
function shared(numbers: Uint32Array): Uint32Array {
  const copy = new Uint32Array(new SharedArrayBuffer(numbers.byteLength));
  copy.set(numbers);
  return copy;
}

function equal(a: ReadonlyColumn<Uint32Array>, b: Int32Array): boolean {
  return a.length === b.length && b.every((slot, i) => slot === a[i]);
}
