// Victims: Configured machines a row may preempt, best first. Machines nobody counts on come before all others; then
// the score decides, then the id. Lists are put in order only as far as somebody reads them.

import { victimScore } from '../model/index.ts';
import type { Cycle } from './cycle.ts';

/** Victims in order, read by number. */
export interface VictimList {
  /** Classes that have victims, and how many each. */
  readonly classes: readonly number[];
  countOf(classNumber: number): number;
  /** Whether there is a victim number `i`, counted from the best. */
  has(i: number): boolean;
  slotAt(i: number): number;
  /** Priority of the row that would lose it. */
  priorityAt(i: number): number;
  /** Nobody counts on it. */
  isExcess(i: number): boolean;
}

/** The victims of one (pattern, priority): a heap whose popped part is the list so far. */
class Victims implements VictimList {
  readonly #cycle: Cycle;
  readonly #slots: number[] = [];
  readonly #scores: number[] = [];
  readonly #priorities: number[] = [];
  readonly #excess: boolean[] = [];
  /** Entries as a heap, best on top. */
  readonly #heap: number[] = [];
  readonly #sorted: number[] = [];
  readonly #counts = new Map<number, number>();

  constructor(cycle: Cycle) {
    this.#cycle = cycle;
  }

  add(slot: number, score: number, priority: number, excess: boolean): void {
    const entry = this.#slots.push(slot) - 1;
    this.#scores.push(score);
    this.#priorities.push(priority);
    this.#excess.push(excess);
    this.#heap.push(entry);
    const c = this.#cycle.fleet.machines.classOf[slot]!;
    this.#counts.set(c, this.countOf(c) + 1);
  }

  /** Call once after the last `add`. */
  heapify(): void {
    for (let i = (this.#heap.length >> 1) - 1; i >= 0; i--) this.#sink(i);
  }

  get classes(): number[] {
    return [...this.#counts.keys()];
  }

  countOf(classNumber: number): number {
    return this.#counts.get(classNumber) ?? 0;
  }

  has(i: number): boolean {
    while (this.#sorted.length <= i && this.#heap.length > 0) this.#sorted.push(this.#pop());
    return i < this.#sorted.length;
  }

  slotAt(i: number): number {
    return this.#slots[this.#sorted[i]!]!;
  }

  priorityAt(i: number): number {
    return this.#priorities[this.#sorted[i]!]!;
  }

  isExcess(i: number): boolean {
    return this.#excess[this.#sorted[i]!]!;
  }

  #pop(): number {
    const best = this.#heap[0]!;
    const last = this.#heap.pop()!;
    if (this.#heap.length > 0) {
      this.#heap[0] = last;
      this.#sink(0);
    }
    return best;
  }

  #sink(at: number): void {
    const heap = this.#heap;
    for (;;) {
      const left = 2 * at + 1;
      if (left >= heap.length) return;
      const right = left + 1;
      const child = right < heap.length && this.#isBetter(heap[right]!, heap[left]!) ? right : left;
      if (!this.#isBetter(heap[child]!, heap[at]!)) return;
      const entry = heap[at]!;
      heap[at] = heap[child]!;
      heap[child] = entry;
      at = child;
    }
  }

  #isBetter(a: number, b: number): boolean {
    if (this.#excess[a] !== this.#excess[b]) return this.#excess[a]!;
    if (this.#scores[a] !== this.#scores[b]) return this.#scores[a]! > this.#scores[b]!;
    const { ordinal } = this.#cycle.fleet.machines;
    return ordinal[this.#slots[a]!]! < ordinal[this.#slots[b]!]!;
  }
}

export const NO_VICTIMS: VictimList = {
  classes: [],
  countOf: () => 0,
  has: () => false,
  slotAt: () => 0,
  priorityAt: () => 0,
  isExcess: () => false,
};

/** Configured machines by class, so that a list looks only at classes that fit. */
export class VictimStock {
  readonly #cycle: Cycle;
  /** Slots of class c: `#slots[#start[c] … #start[c + 1] − 1]`. Made when first asked for. */
  #start: Uint32Array | null = null;
  #slots = new Uint32Array(0);

  constructor(cycle: Cycle) {
    this.#cycle = cycle;
  }

  /** All machines that fit a pattern and serve, or were bound for, a priority below the preemptor's. */
  victims(patternNumber: number, preemptor: number): VictimList {
    const victims = new Victims(this.#cycle);
    const start = this.#byClass();
    for (const c of this.#cycle.fleet.patterns.patternOf(patternNumber).fittingClasses()) {
      for (let i = start[c]!; i < start[c + 1]!; i++) this.#consider(victims, this.#slots[i]!, preemptor);
    }
    victims.heapify();
    return victims;
  }

  #byClass(): Uint32Array {
    if (this.#start !== null) return this.#start;
    const { classes, clusters, machines } = this.#cycle.fleet;
    const start = new Uint32Array(classes.size + 2);
    let total = 0;
    const eachConfigured = (visit: (slot: number) => void): void => {
      for (let cluster = 1; cluster < clusters.size; cluster++) {
        const run = machines.boundOf(cluster)?.configured;
        if (run === undefined) continue;
        for (let i = run.offset; i < run.offset + run.length; i++) {
          const slot = machines.arena.data[i]!;
          // A held machine could not be acquired once it has drained.
          if (machines.held[slot] === 0) visit(slot);
        }
      }
    };
    eachConfigured((slot) => {
      start[machines.classOf[slot]! + 2]!++;
      total++;
    });
    for (let c = 2; c < start.length; c++) start[c]! += start[c - 1]!;
    this.#slots = new Uint32Array(total);
    eachConfigured((slot) => {
      this.#slots[start[machines.classOf[slot]! + 1]!++] = slot;
    });
    this.#start = start;
    return start;
  }

  #consider(victims: Victims, slot: number, preemptor: number): void {
    const cycle = this.#cycle;
    const { machines } = cycle.fleet;
    const { stamps } = machines;
    const stamp = machines.stamp[slot]!;
    const ready = cycle.isReady(machines.cluster[slot]!);
    const claimant = cycle.claimedBy[slot]!;
    // A cluster that has not reported cannot vouch for who uses a machine: only the stamp can.
    if (claimant === 0 || !ready) {
      if (stamps.hasPriority[stamp] === 0 || stamps.priority[stamp]! >= preemptor) return;
    }
    let priority = stamps.priority[stamp]!;
    let interruptionDollars = stamps.interruptionDollars[stamp]!;
    let reclamationDollars = stamps.reclamationDollars[stamp]!;
    if (claimant !== 0) {
      const entry = cycle.fleet.demand.profiles.entryOf(cycle.turns.profile[claimant - 1]!);
      ({ interruptionDollars, reclamationDollars } = entry);
      priority = entry.profile.priority;
      if (priority >= preemptor) return;
    }
    const drainSeconds = cycle.fleet.classes.drainSeconds[machines.classOf[slot]!]!;
    const score = victimScore(
      preemptor,
      { priority, drainSeconds, interruptionDollars, reclamationDollars },
      cycle.options.weights,
    );
    victims.add(slot, score, priority, claimant === 0 && ready);
  }
}
