// Since when a cluster has asked for each of its rows, by the shard's clock. First-seen is part of the rank, so it
// survives a short absence of the row and a restart of the shard. Rows that a roll-up keeps also keep their time; only
// fresh rows and those that leave are looked up by key. Part of cluster-demand.ts.

import {
  FRESH,
  keyOf,
  keyText,
  type Need,
  type NeedKey,
  type ResourceVector,
  type RollupDelta,
} from '../../model/index.ts';
import { KeyMap } from '../planning/key-map.ts';
import { MAX_ABSENT, MAX_ABSENT_CHARACTERS } from '../sessions/limits.ts';
import type { DemandChanges, FirstSeenRow } from '../storage/demand-store.ts';

/** Rows per step: the caller reads the clock between steps. */
const STEP_ROWS = 512;

/** A key that returns after this time gets a new first-seen time. */
export const FORGET_AFTER_MS = 10 * 60_000;

/** The row of this key is not known: the key was restored from the store. */
const UNKNOWN = -1;

/** A key of the last report that may not be in the next one. */
interface Leaving {
  readonly key: NeedKey;
  readonly firstSeenMs: number;
  /** Index of its row in the last report, or `UNKNOWN`. */
  readonly at: number;
}

interface Absent {
  readonly key: NeedKey;
  readonly firstSeenMs: number;
  readonly sinceMs: number;
}

/** An accepted roll-up, compared with the last report. */
export interface Report {
  readonly delta: RollupDelta;
  /** By row of the last report: 1 if the delta keeps it. */
  readonly kept: Uint8Array;
  /** All rows. The list is kept and must not change. */
  readonly needs: readonly Need[];
}

/** The roll-up with first-seen times, and the changes to write. */
export type Stamped = { readonly delta: RollupDelta } & Required<Pick<DemandChanges, 'seen' | 'forgotten'>>;

/** The rows of one cluster. */
export class FirstSeen {
  /** The rows of the last report, and their times. */
  #needs: readonly Need[] = [];
  #times = new Float64Array(0);
  /** Keys restored from the store, until the first report. */
  #restored = new KeyMap<Leaving>();
  /** By key text, longest absent first. */
  readonly #absent = new Map<string, Absent>();
  #absentCharacters = 0;

  /** Restores a row from the store. */
  restore({ key, firstSeenMs, absentSinceMs }: FirstSeenRow): void {
    if (absentSinceMs !== null) this.#setAbsent({ key, firstSeenMs, sinceMs: absentSinceMs });
    else this.#restored.set(key, { key, firstSeenMs, at: UNKNOWN });
  }

  /** Adds first-seen times to an accepted roll-up. Must be run to its end. */
  *report({ delta, kept, needs }: Report, nowMs: number): Generator<undefined, Stamped> {
    const leaving = yield* this.#leaving(kept);
    const origin = delta.origin.slice();
    const times = new Float64Array(origin.length);
    const fresh: Need[] = [];
    const seen: FirstSeenRow[] = [];
    let next = 0;
    for (let i = 0; i < origin.length; i++) {
      if (i % STEP_ROWS === STEP_ROWS - 1) yield;
      if (origin[i] === FRESH) {
        const row = delta.fresh[next++]!;
        const key = keyOf(row);
        const known = leaving.get(key);
        leaving.delete(key);
        times[i] = known?.firstSeenMs ?? this.#begin(key, nowMs, seen);
        // Its bytes may be new although it says the same.
        if (known !== undefined && known.at !== UNKNOWN && saysTheSame(this.#needs[known.at]!, row))
          origin[i] = known.at;
        else fresh.push({ ...row, firstSeenMs: times[i]! });
      } else times[i] = this.#times[origin[i]!]!;
    }
    this.#needs = needs;
    this.#times = times;
    let steps = 0;
    for (const { key, firstSeenMs } of leaving.values()) {
      if (++steps % STEP_ROWS === 0) yield;
      this.#setAbsent({ key, firstSeenMs, sinceMs: nowMs });
      seen.push({ key, firstSeenMs, absentSinceMs: nowMs });
    }
    return { delta: { ...delta, origin, fresh }, seen, forgotten: this.forget(nowMs) };
  }

  /** All rows of the last report, with their times. */
  rows(): Need[] {
    return this.#needs.map((need, i) => ({ ...need, firstSeenMs: this.#times[i]! }));
  }

  /** Rows of the last report that the next one does not keep: fresh rows may have their keys. */
  *#leaving(kept: Uint8Array): Generator<undefined, KeyMap<Leaving>> {
    const leaving = this.#restored;
    this.#restored = new KeyMap();
    let steps = 0;
    for (let at = 0; at < kept.length; at++) {
      if (kept[at] === 1) continue;
      if (++steps % STEP_ROWS === 0) yield;
      const key = keyOf(this.#needs[at]!);
      leaving.set(key, { key, firstSeenMs: this.#times[at]!, at });
    }
    return leaving;
  }

  #setAbsent(absent: Absent): void {
    const text = keyText(absent.key);
    this.#absentCharacters += text.length;
    this.#absent.set(text, absent);
  }

  #dropAbsent(text: string): void {
    if (this.#absent.delete(text)) this.#absentCharacters -= text.length;
  }

  /** The first-seen time of a key that the last report did not have. */
  #begin(key: NeedKey, nowMs: number, seen: FirstSeenRow[]): number {
    const text = keyText(key);
    const absent = this.#absent.get(text);
    this.#dropAbsent(text);
    const isBack = absent !== undefined && nowMs - absent.sinceMs < FORGET_AFTER_MS;
    const firstSeenMs = isBack ? absent.firstSeenMs : nowMs;
    seen.push({ key, firstSeenMs, absentSinceMs: null });
    return firstSeenMs;
  }

  /** Drops keys absent for FORGET_AFTER_MS, and the longest absent ones beyond the limits; returns the dropped keys. */
  forget(nowMs: number): NeedKey[] {
    const forgotten: NeedKey[] = [];
    for (const [text, { key, sinceMs }] of this.#absent) {
      const isRoom = this.#absent.size <= MAX_ABSENT && this.#absentCharacters <= MAX_ABSENT_CHARACTERS;
      if (nowMs - sinceMs < FORGET_AFTER_MS && isRoom) break;
      this.#dropAbsent(text);
      forgotten.push(key);
    }
    return forgotten;
  }
}

/** Whether two rows of equal keys ask for the same. */
function saysTheSame(a: Need, b: Need): boolean {
  return (
    a.setAside === b.setAside && sameAmounts(a.aggregate, b.aggregate) && sameAmounts(a.minUnit, b.minUnit)
  );
}

function sameAmounts(a: ResourceVector, b: ResourceVector): boolean {
  if (a === b) return true;
  if (a.size !== b.size) return false;
  for (const [name, units] of a) if (b.get(name) !== units) return false;
  return true;
}
