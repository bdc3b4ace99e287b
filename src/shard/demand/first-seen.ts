// Since when a cluster has asked for each of its rows, by the shard's clock. First-seen is part of the rank, so it survives
// a short absence of the row and a restart of the shard. Unchanged rows keep their object identity, because the demand
// ledger detects changed rows by identity.

import { keyOf, keyText, type Need, type NeedKey, type ResourceVector } from '../../model/index.ts';
import { KeyMap } from '../planning/key-map.ts';
import { MAX_ABSENT, MAX_ABSENT_CHARACTERS } from '../sessions/limits.ts';
import type { DemandChanges, FirstSeenRow } from '../storage/demand-store.ts';

/** Rows per step: the caller reads the clock between steps. */
const STEP_ROWS = 256;

/** A key that returns after this time gets a new first-seen time. */
export const FORGET_AFTER_MS = 10 * 60_000;

/** Allocated for each row of every cluster, so it is kept small. */
interface Seen {
  readonly key: NeedKey;
  readonly firstSeenMs: number;
  /** The intake's object, which is identical until the row changes; null if the key was only restored from the store. */
  row: Need | null;
  /** `row` with its first-seen time. */
  need: Need | null;
  /** Number of the last report that contained the key. */
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
  /** By key text, longest absent first. */
  readonly #absent = new Map<string, Absent>();
  #absentCharacters = 0;
  #reports = 0;

  /** Restores a row from the store. */
  restore({ key, firstSeenMs, absentSinceMs }: FirstSeenRow): void {
    if (absentSinceMs !== null) this.#setAbsent({ key, firstSeenMs, sinceMs: absentSinceMs });
    else this.#present.set(key, { key, firstSeenMs, row: null, need: null, report: 0 });
  }

  /** The rows of an accepted roll-up with their first-seen times, and the changes to write. Must be run to its end. */
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

  /** Finds or creates the entry of a row and updates it. */
  #look(row: Need, nowMs: number, seen: FirstSeenRow[]): Seen {
    const key = keyOf(row);
    const known = this.#present.get(key) ?? this.#begin(key, nowMs, seen);
    if (known.row === row) return known;
    known.row = row;
    // The intake may have created a new object for a row whose content is unchanged.
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
