// Since when a cluster has asked for each of its rows, by the clock of the shard. Who was here first is served first, so
// the time outlives a short absence and a restart. Rows that have not changed stay the very same objects, because the
// ledger of demand tells old from new by identity.

import { keyOf, keyText, type Need, type NeedKey, type ResourceVector } from '../../model/index.ts';
import type { DemandChanges, FirstSeenRow } from './demand-store.ts';
import { MAX_ABSENT } from './limits.ts';

/** A key that has been absent this long is new when it returns. */
export const FORGET_AFTER_MS = 10 * 60_000;

interface Seen {
  readonly text: string;
  readonly key: NeedKey;
  readonly firstSeenMs: number;
  /** The row as last reported; null if only the store has told of it. */
  readonly need: Need | null;
}

interface Absent {
  readonly key: NeedKey;
  readonly firstSeenMs: number;
  readonly sinceMs: number;
}

type SeenChanges = Required<Pick<DemandChanges, 'seen' | 'forgotten'>>;

/** The rows of one cluster. */
export class FirstSeen {
  #present = new Map<string, Seen>();
  /** By the objects of the intake, which keeps those that have not changed. */
  #byReport = new Map<Need, Seen>();
  /** Longest absent first. */
  readonly #absent = new Map<string, Absent>();

  /** Takes over what a store remembers. */
  restore({ key, firstSeenMs, absentSinceMs }: FirstSeenRow): void {
    const text = keyText(key);
    if (absentSinceMs === null) this.#present.set(text, { text, key, firstSeenMs, need: null });
    else this.#absent.set(text, { key, firstSeenMs, sinceMs: absentSinceMs });
  }

  /** The rows of an accepted roll-up with their times, and what there is to remember. */
  report(rows: readonly Need[], nowMs: number): { readonly needs: readonly Need[] } & SeenChanges {
    const present = new Map<string, Seen>();
    const byReport = new Map<Need, Seen>();
    const seen: FirstSeenRow[] = [];
    const needs = rows.map((row) => {
      const known = this.#byReport.get(row) ?? this.#look(row, nowMs, seen);
      present.set(known.text, known);
      byReport.set(row, known);
      return known.need!;
    });
    for (const [text, { key, firstSeenMs }] of this.#present) {
      if (present.has(text)) continue;
      this.#absent.set(text, { key, firstSeenMs, sinceMs: nowMs });
      seen.push({ key, firstSeenMs, absentSinceMs: nowMs });
    }
    this.#present = present;
    this.#byReport = byReport;
    return { needs, seen, forgotten: this.forget(nowMs) };
  }

  /** A row that the intake made anew: it may still be known by its key, or be quite the same. */
  #look(row: Need, nowMs: number, seen: FirstSeenRow[]): Seen {
    const key = keyOf(row);
    const text = keyText(key);
    const known = this.#present.get(text);
    if (known?.need && saysTheSame(known.need, row)) return known;
    if (known !== undefined) return { ...known, need: { ...row, firstSeenMs: known.firstSeenMs } };
    const absent = this.#absent.get(text);
    this.#absent.delete(text);
    const isBack = absent !== undefined && nowMs - absent.sinceMs < FORGET_AFTER_MS;
    const firstSeenMs = isBack ? absent.firstSeenMs : nowMs;
    seen.push({ key, firstSeenMs, absentSinceMs: null });
    return { text, key, firstSeenMs, need: { ...row, firstSeenMs } };
  }

  /** Drops keys that have been absent too long, and the longest absent where there are too many; returns them. */
  forget(nowMs: number): NeedKey[] {
    const forgotten: NeedKey[] = [];
    for (const [text, { key, sinceMs }] of this.#absent) {
      if (nowMs - sinceMs < FORGET_AFTER_MS && this.#absent.size <= MAX_ABSENT) break;
      this.#absent.delete(text);
      forgotten.push(key);
    }
    return forgotten;
  }
}

/** Whether two rows of equal keys ask for the same. */
function saysTheSame(a: Need, b: Need): boolean {
  return sameAmounts(a.aggregate, b.aggregate) && sameAmounts(a.minUnit, b.minUnit);
}

function sameAmounts(a: ResourceVector, b: ResourceVector): boolean {
  if (a.size !== b.size) return false;
  for (const [name, units] of a) if (b.get(name) !== units) return false;
  return true;
}
