// Since when a cluster has asked for each of its rows, by the clock of the shard. Who was here first is served first, so
// the time outlives a short absence and a restart. Rows that have not changed stay the very same objects, because the
// ledger of demand tells old from new by identity.

import { keyOf, keyText, type Need, type NeedKey, type ResourceVector } from '../../model/index.ts';
import { KeyMap } from '../key-map.ts';
import type { DemandChanges, FirstSeenRow } from './demand-store.ts';
import { MAX_ABSENT, MAX_ABSENT_CHARACTERS } from './limits.ts';

/** Rows between two looks at the clock. */
const STEP_ROWS = 256;

/** A key that has been absent this long is new when it returns. */
export const FORGET_AFTER_MS = 10 * 60_000;

/** There is one for each row of every cluster: it holds no more than it must. */
interface Seen {
  readonly key: NeedKey;
  readonly firstSeenMs: number;
  /** The row as the intake gave it, which gives the same object until it changes; null if only the store has told of it. */
  row: Need | null;
  /** The same with its time. */
  need: Need | null;
  /** The last report that had it. */
  report: number;
}

interface Absent {
  readonly key: NeedKey;
  readonly firstSeenMs: number;
  readonly sinceMs: number;
}

type SeenChanges = Required<Pick<DemandChanges, 'seen' | 'forgotten'>>;

/** The rows of one cluster. */
export class FirstSeen {
  readonly #present = new KeyMap<Seen>();
  /** Longest absent first. */
  readonly #absent = new Map<string, Absent>();
  #absentCharacters = 0;
  #reports = 0;

  /** Takes over what a store remembers. */
  restore({ key, firstSeenMs, absentSinceMs }: FirstSeenRow): void {
    if (absentSinceMs !== null) this.#setAbsent({ key, firstSeenMs, sinceMs: absentSinceMs });
    else this.#present.set(key, { key, firstSeenMs, row: null, need: null, report: 0 });
  }

  /** The rows of an accepted roll-up with their times, and what there is to remember. Must be run to its end. */
  *report(
    rows: readonly Need[],
    nowMs: number,
  ): Generator<undefined, { readonly needs: readonly Need[] } & SeenChanges> {
    const report = ++this.#reports;
    const seen: FirstSeenRow[] = [];
    const needs: Need[] = [];
    for (const row of rows) {
      const known = this.#look(row, nowMs, seen);
      known.report = report;
      if (needs.push(known.need!) % STEP_ROWS === 0) yield;
    }
    let steps = 0;
    for (const known of this.#present.values()) {
      if (++steps % STEP_ROWS === 0) yield;
      if (known.report === report) continue;
      const { key, firstSeenMs } = known;
      this.#present.delete(key);
      this.#setAbsent({ key, firstSeenMs, sinceMs: nowMs });
      seen.push({ key, firstSeenMs, absentSinceMs: nowMs });
    }
    return { needs, seen, forgotten: this.forget(nowMs) };
  }

  #setAbsent(absent: Absent): void {
    const text = keyText(absent.key);
    this.#absentCharacters += text.length;
    this.#absent.set(text, absent);
  }

  #dropAbsent(text: string): void {
    if (this.#absent.delete(text)) this.#absentCharacters -= text.length;
  }

  /** What is known of a row from now on. */
  #look(row: Need, nowMs: number, seen: FirstSeenRow[]): Seen {
    const key = keyOf(row);
    const known = this.#present.get(key) ?? this.#begin(key, nowMs, seen);
    if (known.row === row) return known;
    known.row = row;
    // A row that the intake made anew may say just the same.
    if (known.need === null || !saysTheSame(known.need, row)) {
      known.need = { ...row, firstSeenMs: known.firstSeenMs };
    }
    return known;
  }

  #begin(key: NeedKey, nowMs: number, seen: FirstSeenRow[]): Seen {
    const text = keyText(key);
    const absent = this.#absent.get(text);
    this.#dropAbsent(text);
    const isBack = absent !== undefined && nowMs - absent.sinceMs < FORGET_AFTER_MS;
    const firstSeenMs = isBack ? absent.firstSeenMs : nowMs;
    const known: Seen = { key, firstSeenMs, row: null, need: null, report: 0 };
    this.#present.set(key, known);
    seen.push({ key, firstSeenMs, absentSinceMs: null });
    return known;
  }

  /** Drops keys that have been absent too long, and the longest absent where there are too many; returns them. */
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
