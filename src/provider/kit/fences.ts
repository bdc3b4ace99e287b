// Fencing marks: per (shard, machine) the highest token seen. A token passes only if it is strictly newer, so that a
// shard that was replaced but does not know it yet can change nothing. Part of inventory.ts; provider.ts passes the
// token of every Create, Configure, Drain and Delete.

import { type FencingToken, isNewer } from '../../wire/index.ts';
import { MAX_SHARDS_PER_MACHINE, MAX_STRAY_MARKS } from './limits.ts';
import type { MarkRow } from './store.ts';

/** Changes by an accepted token: the new mark, and the marks evicted for it. */
export interface Advance {
  readonly mark: MarkRow;
  readonly forgotten: readonly MarkRow[];
}

export interface FenceLimits {
  readonly strayMarks: number;
  readonly shardsPerMachine: number;
}

// LRU: maps keep insertion order, and a touched entry moves to the end, so the first is the least recently used.
type MarksOfMachine = Map<string, MarkRow>;

export class Fences {
  readonly #marks = new Map<string, MarksOfMachine>();
  /** Ids with marks that belong to no known machine. */
  readonly #strays = new Set<string>();
  #strayMarks = 0;
  readonly #limits: FenceLimits;

  constructor(limits: Partial<FenceLimits> = {}) {
    this.#limits = { strayMarks: MAX_STRAY_MARKS, shardsPerMachine: MAX_SHARDS_PER_MACHINE, ...limits };
  }

  /** Advances the mark, or returns the mark that the token is not newer than. */
  pass(machine: string, isKnown: boolean, token: FencingToken): Advance | { readonly heldBy: FencingToken } {
    const held = this.#marks.get(machine)?.get(token.shardId);
    if (held !== undefined) {
      const mark = { shardId: held.shard, epoch: held.epoch, sequence: held.sequence };
      if (!isNewer(token, mark)) return { heldBy: mark };
    }
    const mark = { machine, shard: token.shardId, epoch: token.epoch, sequence: token.sequence };
    return { mark, forgotten: this.set(mark, isKnown) };
  }

  /** Sets a mark and returns those evicted for it. */
  set(mark: MarkRow, isKnown: boolean): readonly MarkRow[] {
    let marks = this.#marks.get(mark.machine);
    if (marks === undefined) {
      marks = new Map();
      this.#marks.set(mark.machine, marks);
    }
    const before = marks.size;
    marks.delete(mark.shard);
    marks.set(mark.shard, mark);
    const forgotten: MarkRow[] = [];
    if (marks.size > this.#limits.shardsPerMachine) {
      const [oldest] = marks.values();
      marks.delete(oldest!.shard);
      forgotten.push(oldest!);
    }
    if (!isKnown) {
      this.#strays.delete(mark.machine);
      this.#strays.add(mark.machine);
      this.#strayMarks += marks.size - before;
      this.#evictStrays(forgotten);
    }
    return forgotten;
  }

  /** Called when a machine becomes known: its marks no longer count as stray. */
  adopt(machine: string): void {
    if (this.#strays.delete(machine)) this.#strayMarks -= this.#marks.get(machine)!.size;
  }

  #evictStrays(forgotten: MarkRow[]): void {
    for (const machine of this.#strays) {
      if (this.#strayMarks <= this.#limits.strayMarks) return;
      forgotten.push(...this.#marks.get(machine)!.values());
      this.adopt(machine);
      this.#marks.delete(machine);
    }
  }
}
