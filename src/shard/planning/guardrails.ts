// Guardrails limit how much of a plan is carried out now. They run after the decision and do not change the ranking:
// they admit the head of the plan's order and leave the rest to a later cycle, which decides it again if it still
// applies. Called by cycles.ts.
//
//   frozen    a freeze covers it (freezes.ts)
//   dry-run   nothing is carried out; every action that is not frozen counts here, and no other guardrail applies
//   protected a Reclaim of a machine whose last drain was withdrawn, for 30 min (actuation/drain-waits.ts)
//   capped    its cluster has reached the cap of Reclaims for this cycle or for the last 10 s
//   deferred  the cycle has reached `maxActionsPerCycle`; another cycle may follow at once
//
// A Preempt is neither capped nor deferred: priority takes effect through it, and must not be throttled.

import type { Action, ActionKind } from '../../model/index.ts';
import type { Freezes } from './freezes.ts';

export interface GuardrailOptions {
  /**
   * Fraction of a cluster's Configured machines that may be reclaimed in a cycle and in any 10 s, 0 to 1, but at least one
   * machine. Lower: excess machines cost longer. Higher: a wrong roll-up drains a cluster before people can react.
   */
  readonly reclaimFraction: number;
  /** Actions per cycle, Preempts not counted; 0: no limit. */
  readonly maxActionsPerCycle: number;
  readonly dryRun: boolean;
  /**
   * Reclaims admitted before this time are unknown, because an earlier process admitted them. No Reclaim is admitted for
   * 10 s after it, so that a crash loop does not reclaim faster than the cap.
   */
  readonly unknownBeforeMs?: number;
}

export const DEFAULT_GUARDRAILS: GuardrailOptions = {
  reclaimFraction: 0.05,
  maxActionsPerCycle: 0,
  dryRun: false,
};

/** A cap per cycle alone would not bound the rate, because changed demand triggers extra cycles. */
export const RECLAIM_WINDOW_MS = 10_000;

export type WaitReason = 'frozen' | 'dry-run' | 'protected' | 'capped' | 'deferred';

export type KindCounts = Readonly<Record<ActionKind, number>>;

/** All lists are in the order of the plan. */
export interface Admission {
  readonly admitted: readonly Action[];
  readonly waiting: Readonly<Record<WaitReason, readonly Action[]>>;
}

/** Input of the guardrails besides the plan. */
export interface GuardrailView {
  readonly nowMs: number;
  /** Number of Configured machines of a cluster before the plan is carried out. */
  readonly configuredOf: (cluster: string) => number;
  readonly freezes: Pick<Freezes, 'isFrozen'>;
  /** Whether a machine is not to be reclaimed, because a drain of it was withdrawn lately. */
  readonly isProtected: (machine: string) => boolean;
}

/** max(1, ⌊fraction × configured⌋). The 1e-9 corrects rounding: 0.29 × 100 is 28.999… as a double. */
export function reclaimCap(fraction: number, configured: number): number {
  return Math.max(1, Math.floor(fraction * configured + 1e-9));
}

export class Guardrails {
  readonly options: GuardrailOptions;
  readonly #reclaims: ReclaimWindow;

  constructor(options: GuardrailOptions = DEFAULT_GUARDRAILS) {
    this.options = options;
    this.#reclaims = new ReclaimWindow(options.unknownBeforeMs ?? Number.NEGATIVE_INFINITY);
  }

  admit(actions: readonly Action[], view: GuardrailView): Admission {
    const { dryRun, maxActionsPerCycle } = this.options;
    const admitted: Action[] = [];
    const waiting: Record<WaitReason, Action[]> = {
      ...{ frozen: [], 'dry-run': [], protected: [], capped: [], deferred: [] },
    };
    const room = new ReclaimRoom(this.#reclaims, this.options.reclaimFraction, view);
    let left = maxActionsPerCycle === 0 ? Number.POSITIVE_INFINITY : maxActionsPerCycle;
    for (const action of actions) {
      if (view.freezes.isFrozen(action)) waiting.frozen.push(action);
      else if (dryRun) waiting['dry-run'].push(action);
      else if (action.kind === 'Preempt') admitted.push(action);
      else if (action.kind === 'Reclaim' && view.isProtected(action.machine)) waiting.protected.push(action);
      else if (action.kind === 'Reclaim' && room.of(action.cluster) === 0) waiting.capped.push(action);
      else if (left === 0) waiting.deferred.push(action);
      else {
        left--;
        if (action.kind === 'Reclaim') room.take(action.cluster);
        admitted.push(action);
      }
    }
    room.settle();
    return { admitted, waiting };
  }
}

export function countByKind(actions: readonly Action[]): KindCounts {
  const counts = { Bootstrap: 0, Provision: 0, Preempt: 0, Reclaim: 0, Delete: 0 };
  for (const { kind } of actions) counts[kind]++;
  return counts;
}

/** Reclaims that each cluster has left in this cycle. */
class ReclaimRoom {
  readonly #window: ReclaimWindow;
  readonly #fraction: number;
  readonly #view: GuardrailView;
  readonly #left = new Map<string, number>();
  readonly #taken = new Map<string, number>();

  constructor(window: ReclaimWindow, fraction: number, view: GuardrailView) {
    this.#window = window;
    this.#fraction = fraction;
    this.#view = view;
    window.advance(view.nowMs);
  }

  of(cluster: string): number {
    let left = this.#left.get(cluster);
    if (left === undefined) {
      const cap = reclaimCap(this.#fraction, this.#view.configuredOf(cluster));
      left = this.#window.isComplete ? Math.max(0, cap - this.#window.countOf(cluster)) : 0;
      this.#left.set(cluster, left);
    }
    return left;
  }

  take(cluster: string): void {
    this.#left.set(cluster, this.of(cluster) - 1);
    this.#taken.set(cluster, (this.#taken.get(cluster) ?? 0) + 1);
  }

  /** Adds the admitted Reclaims to the window. */
  settle(): void {
    for (const [cluster, count] of this.#taken) this.#window.add(cluster, this.#view.nowMs, count);
  }
}

/** Reclaims of the last 10 s by cluster. The caps bound its size, because each entry is at least one Reclaim. */
class ReclaimWindow {
  readonly #entries = new Map<string, { readonly atMs: number; readonly count: number }[]>();
  #unknownBeforeMs: number;
  #nowMs = Number.NEGATIVE_INFINITY;

  constructor(unknownBeforeMs: number) {
    this.#unknownBeforeMs = unknownBeforeMs;
  }

  /** Whether all Reclaims of the last 10 s are known. */
  get isComplete(): boolean {
    return this.#nowMs - this.#unknownBeforeMs >= RECLAIM_WINDOW_MS;
  }

  /** Drops entries older than 10 s. If the clock was set back, entries move to now: the window grows, it never shrinks. */
  advance(nowMs: number): void {
    this.#nowMs = nowMs;
    this.#unknownBeforeMs = Math.min(this.#unknownBeforeMs, nowMs);
    for (const [cluster, entries] of this.#entries) {
      const recent = entries
        .filter(({ atMs }) => nowMs - atMs < RECLAIM_WINDOW_MS)
        .map(({ atMs, count }) => ({ atMs: Math.min(atMs, nowMs), count }));
      if (recent.length > 0) this.#entries.set(cluster, recent);
      else this.#entries.delete(cluster);
    }
  }

  add(cluster: string, atMs: number, count: number): void {
    const entries = this.#entries.get(cluster) ?? [];
    entries.push({ atMs, count });
    this.#entries.set(cluster, entries);
  }

  countOf(cluster: string): number {
    return (this.#entries.get(cluster) ?? []).reduce((sum, { count }) => sum + count, 0);
  }
}
