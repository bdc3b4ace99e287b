// Verdicts on needs for operators that announced the feature: all of them after a hello, then those that changed, per
// cluster at most once in five seconds. They are computed from the last decision between cycles, a few milliseconds at
// a time and for at most a twentieth of the time, so that no cycle waits for them. Of what was sent only a hash is
// kept. Made by cycles.ts.

import type { Decision } from '../../engine/index.ts';
import type { Fleet } from '../../fleet/index.ts';
import type { MachineState, NeedKey, Verdict } from '../../model/index.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { NeedVerdicts, NeedVerdicts_Verdict } from '../../wire/gen/bigfleet/v1alpha1/shard.ts';
import type { Effect } from '../events.ts';
import { framesOf, removedFrameOf, type VerdictKey, verdictFrameOf } from './verdict-frames.ts';

/** Shortest time between two messages to a cluster. */
export const VERDICT_INTERVAL_MS = 5000;
/** Longest turn of work. */
const TURN_MS = 5;
/** Turns take at most this part of the time. */
const LARGEST_SHARE = 0.05;
/** Unmet rows whose place among all unmet rows is counted; those beyond share one number. */
const MAX_RANKED = 10_000;

export interface OperatorVerdictsParts {
  readonly fleet: Fleet;
  readonly clock: Clock;
  readonly monotonicMs: () => number;
  readonly emit: (effect: Effect) => void;
  /** The last decision with the number of its cycle; null while there is none. */
  readonly last: () => { readonly decision: Decision; readonly cycle: number } | null;
  readonly stateOf: (machine: string) => MachineState | undefined;
}

/** What a cluster has been sent. */
interface Sent {
  /** By text of the key: a hash of the verdict. */
  readonly hashes: Map<string, { readonly key: VerdictKey; readonly hash: number }>;
  isFull: boolean;
  /** When the next message may be sent. */
  dueMs: number;
}

type Pass = Generator<undefined, readonly NeedVerdicts[]>;

export class OperatorVerdicts {
  readonly #parts: OperatorVerdictsParts;
  /** By cluster whose operator wants verdicts; in the order of the last pass. */
  readonly #clusters = new Map<string, Sent>();
  #pass: { readonly cluster: string; readonly steps: Pass } | null = null;
  #cancelTurn: (() => void) | null = null;
  #ranks: { readonly decision: Decision; readonly places: ReadonlyMap<Verdict, number> } | null = null;

  constructor(parts: OperatorVerdictsParts) {
    this.#parts = parts;
  }

  /** A hello with the feature: all verdicts are sent again. */
  wanted(cluster: string): void {
    this.forget(cluster);
    this.#clusters.set(cluster, { hashes: new Map(), isFull: true, dueMs: Number.NEGATIVE_INFINITY });
    this.#turnIn(0);
  }

  forget(cluster: string): void {
    this.#clusters.delete(cluster);
    if (this.#pass?.cluster === cluster) this.#pass = null;
  }

  /** A cycle has ended: verdicts may have changed. */
  decided(): void {
    if (this.#clusters.size > 0) this.#turnIn(0);
  }

  stop(): void {
    this.#cancelTurn?.();
    this.#clusters.clear();
    this.#pass = null;
  }

  #turnIn(ms: number): void {
    if (this.#cancelTurn !== null) return;
    this.#cancelTurn = this.#parts.clock.after(ms, () => {
      this.#cancelTurn = null;
      this.#turn();
    });
  }

  #turn(): void {
    const { monotonicMs } = this.#parts;
    const began = monotonicMs();
    let isOver = false;
    while (!isOver && this.#step()) isOver = monotonicMs() - began >= TURN_MS;
    if (isOver) this.#turnIn((monotonicMs() - began) / LARGEST_SHARE);
  }

  /** Returns false if there is nothing to do before the next cycle. */
  #step(): boolean {
    if (this.#parts.last() === null) return false;
    this.#pass ??= this.#nextPass();
    if (this.#pass === null) return false;
    const { cluster, steps } = this.#pass;
    const step = steps.next();
    if (step.done !== true) return true;
    this.#pass = null;
    for (const frame of step.value) this.#parts.emit({ kind: 'need-verdicts', cluster, frame });
    return true;
  }

  /** The cluster whose pass is due and longest ago. */
  #nextPass(): { readonly cluster: string; readonly steps: Pass } | null {
    const nowMs = this.#parts.clock.now();
    for (const [cluster, sent] of this.#clusters) {
      // A clock that was set back must not delay verdicts by the size of the step.
      if (sent.dueMs > nowMs && sent.dueMs <= nowMs + VERDICT_INTERVAL_MS) continue;
      this.#clusters.delete(cluster);
      this.#clusters.set(cluster, { ...sent, dueMs: nowMs + VERDICT_INTERVAL_MS });
      return { cluster, steps: this.#passOver(cluster, this.#clusters.get(cluster)!) };
    }
    return null;
  }

  /** Compares every row of a cluster with what was sent. A new decision may replace the last one between two steps. */
  *#passOver(cluster: string, sent: Sent): Pass {
    const { last } = this.#parts;
    const changed: NeedVerdicts_Verdict[] = [];
    const keys = this.#keysOf(cluster);
    const { cycle } = last()!;
    const present = new Set<string>();
    for (const key of keys) {
      const text = textOf(key);
      const verdict = last()!.decision.verdictOf(key);
      if (verdict !== null) {
        present.add(text);
        const frame = verdictFrameOf(key, verdict, this.#rowsAheadOf(verdict), this.#parts.stateOf);
        const hash = hashOf(frame);
        if (sent.hashes.get(text)?.hash !== hash) {
          changed.push(frame);
          sent.hashes.set(text, { key, hash });
        }
      }
      yield;
    }
    for (const [text, { key }] of sent.hashes) {
      if (present.has(text)) continue;
      sent.hashes.delete(text);
      changed.push(removedFrameOf(key));
    }
    const { isFull } = sent;
    sent.isFull = false;
    return framesOf(cycle, isFull, changed);
  }

  #keysOf(cluster: string): readonly NeedKey[] {
    const { clusters, demand } = this.#parts.fleet;
    const number = clusters.find(cluster);
    // `find` returns the number of the empty name for an unknown name.
    if (clusters.nameOf(number) !== cluster) return [];
    const { offset, length } = demand.rowsOf(number);
    return Array.from({ length }, (_, i) => demand.keyOf(offset + i));
  }

  /** Unmet rows that rank above an unmet one; 0 for a row that is met. */
  #rowsAheadOf(verdict: Verdict): number {
    const { decision } = this.#parts.last()!;
    if (verdict.satisfied) return 0;
    if (this.#ranks?.decision !== decision) {
      const ranked = decision.unmet.slice(0, MAX_RANKED);
      this.#ranks = { decision, places: new Map(ranked.map((each, i) => [each, i])) };
    }
    return this.#ranks.places.get(verdict) ?? Math.min(MAX_RANKED, decision.unmet.length);
  }
}

/** The fingerprint alone where there is no group, because that string is shared with the row. */
function textOf({ fingerprint, group }: VerdictKey): string {
  return group === '' ? fingerprint : `${fingerprint}\0${group}`;
}

/**
 * A hash of 53 bits. The number of rows ahead counts by its order of magnitude only: it changes in every cycle of a busy
 * fleet, and an operator that is told each time would write as many Events.
 */
function hashOf(verdict: NeedVerdicts_Verdict): number {
  const rowsAhead = 32 - Math.clz32(verdict.rowsAhead);
  const text = JSON.stringify({ ...verdict, profileFingerprint: '', group: '', rowsAhead });
  let a = 0x811c9dc5;
  let b = 0x1b873593;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    a = Math.imul(a ^ unit, 0x01000193);
    b = Math.imul(b ^ unit, 0x85ebca6b) ^ (b >>> 13);
  }
  return (a >>> 0) * 2 ** 21 + (b >>> 11);
}
