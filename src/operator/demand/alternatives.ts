// Pods whose node affinity has several alternatives that no single row can express: which of them their pending pods ask
// for. The cheapest published capacity is tried first, the next one when the row stays short. Pods that run count for the
// alternative that their node meets, so a change here moves pending pods only.
//
// The shard publishes prices of profiles that are demanded, so an alternative that was not tried yet has none of its own.
// Its price is then that of the cheapest available capacity that does not contradict it: an estimate from below, since the
// machine behind that price may not meet the alternative. One that was too low costs one turn, after which the price of the
// alternative itself is known.

import { makeProfile, type Profile, type Requirement } from '../../model/index.ts';
import type { NodeTerm } from '../pods/node-terms.ts';
import type { RowKey } from './contract.ts';
import { areCompatible, termOf } from './requirement-terms.ts';
import { ShortRows } from './short-rows.ts';

/** What the shard published about machines with certain requirements. */
export interface PublishedCapacity {
  readonly requirements: readonly Requirement[];
  readonly count: number;
  readonly costPerHour: number;
}

export interface AlternativeTimes {
  /** How long a row may stay short before its pods ask for the next alternative. */
  readonly patienceMs: number;
  /** How long a machine may take to join the cluster. */
  readonly joinTimeoutMs: number;
}

interface Published {
  readonly term: NodeTerm;
  readonly count: number;
  readonly costPerHour: number;
  readonly atMs: number;
}

interface Choice {
  readonly profiles: readonly Profile[];
  readonly group: string;
  /** Indexes of the alternatives that had their turn, the current one included. */
  tried: Set<number>;
  /** Index of the alternative that pods ask for. */
  at: number;
  sinceMs: number;
}

const MAX_PUBLISHED = 16_384;
/** Capacity that had run out may be back; the shard no longer says so once the row has gone. */
const RAN_OUT_MS = 60 * 60_000;
/** Without verdicts, a machine that joins at the last moment must still be in time. */
const JOIN_TIMES = 2;

export class Alternatives {
  readonly #patienceMs: number;
  /** The same with a shard that does not say which rows are short. */
  readonly #blindPatienceMs: number;
  readonly #choices = new Map<string, Choice>();
  readonly #published = new Map<string, Published>();
  /** What is available, cheapest first; null after a change. */
  #available: readonly Published[] | null = null;
  readonly #short = new ShortRows();
  /** Null without a session. */
  #session: { readonly hasVerdicts: boolean; readonly sinceMs: number } | null = null;

  constructor({ patienceMs, joinTimeoutMs }: AlternativeTimes) {
    this.#patienceMs = patienceMs;
    this.#blindPatienceMs = Math.max(patienceMs, JOIN_TIMES * joinTimeoutMs);
  }

  get size(): number {
    return this.#choices.size;
  }

  published({ requirements, count, costPerHour }: PublishedCapacity, nowMs: number): void {
    if (this.#published.size >= MAX_PUBLISHED) this.#published.clear();
    const term = termOf(requirements);
    this.#published.set(textOf(requirements), { term, count, costPerHour, atMs: nowMs });
    this.#available = null;
  }

  /** A session has begun. Until its verdicts arrive, no row is known to be short. */
  connected(hasVerdicts: boolean, nowMs: number): void {
    this.#session = { hasVerdicts, sinceMs: nowMs };
  }

  disconnected(): void {
    this.#session = null;
    this.#short.clear();
  }

  /** The shard begins to send all verdicts again; `cycle` tells the frames of one set. */
  verdictsBegin(isFull: boolean, cycle: bigint): void {
    this.#short.begin(isFull, cycle);
  }

  /** `satisfied` null: the row is gone. */
  verdict(row: RowKey, satisfied: boolean | null, nowMs: number): void {
    this.#short.set(row, satisfied === false, nowMs);
  }

  /** The index of the alternative that pending pods ask for. `key` identifies the alternatives. */
  current(key: string, profiles: readonly Profile[], group: string, nowMs: number): number {
    let choice = this.#choices.get(key);
    if (choice === undefined) {
      const at = this.#cheapest(profiles, new Set(), nowMs);
      choice = { profiles, group, tried: new Set([at]), at, sinceMs: nowMs };
      this.#choices.set(key, choice);
    }
    return choice.at;
  }

  /**
   * Moves on from alternatives that stay short, and forgets the choice where no pod is pending, so that the next pod starts
   * with the cheapest again. `pending`: keys with pending pods, and since when the first of them has been pending. Returns
   * the keys whose alternative changed.
   */
  review(pending: ReadonlyMap<string, number>, nowMs: number): ReadonlySet<string> {
    const moved = new Set<string>();
    for (const [key, choice] of this.#choices) {
      const pendingSinceMs = pending.get(key);
      if (pendingSinceMs === undefined) this.#choices.delete(key);
      else if (this.#isShort(choice, pendingSinceMs, nowMs)) {
        this.#moveOn(choice, nowMs);
        moved.add(key);
      }
    }
    return moved;
  }

  #isShort({ profiles, group, at, sinceMs }: Choice, pendingSinceMs: number, nowMs: number): boolean {
    const session = this.#session;
    if (session === null) return false;
    if (!session.hasVerdicts)
      return nowMs - Math.max(sinceMs, session.sinceMs, pendingSinceMs) >= this.#blindPatienceMs;
    const { fingerprint } = profiles[at]!;
    const shortSinceMs = this.#short.sinceMs({ fingerprint, group });
    // Pods that wait for machines which the shard has found, or about which it has said nothing yet, are not short.
    return shortSinceMs !== undefined && nowMs - Math.max(sinceMs, shortSinceMs) >= this.#patienceMs;
  }

  /** To the cheapest one that had no turn; after the last one all begin again. */
  #moveOn(choice: Choice, nowMs: number): void {
    const { profiles, at } = choice;
    if (choice.tried.size === profiles.length) choice.tried = new Set([at]);
    choice.at = this.#cheapest(profiles, choice.tried, nowMs);
    choice.tried.add(choice.at);
    choice.sinceMs = nowMs;
  }

  /** Available and cheapest first, then those without any price, then those known to have run out, then by their order. */
  #cheapest(profiles: readonly Profile[], without: ReadonlySet<number>, nowMs: number): number {
    let best = -1;
    let least: Rank = [Number.POSITIVE_INFINITY, 0];
    for (const [index, { requirements }] of profiles.entries()) {
      if (without.has(index)) continue;
      const rank = this.#rankOf(requirements, nowMs);
      if (best !== -1 && (rank[0] - least[0] || rank[1] - least[1]) >= 0) continue;
      best = index;
      least = rank;
    }
    return best;
  }

  #rankOf(requirements: readonly Requirement[], nowMs: number): Rank {
    const own = this.#published.get(textOf(requirements));
    if (own !== undefined && own.count > 0) return [0, own.costPerHour];
    if (own !== undefined) return nowMs - own.atMs < RAN_OUT_MS ? [2, own.costPerHour] : [1, 0];
    this.#available ??= [...this.#published.values()]
      .filter(({ count }) => count > 0)
      .sort((a, b) => a.costPerHour - b.costPerHour);
    const term = termOf(requirements);
    const found = this.#available.find((each) => areCompatible(each.term, term));
    return found === undefined ? [1, 0] : [0, found.costPerHour];
  }
}

/** Class, then price. */
type Rank = readonly [number, number];

function textOf(requirements: readonly Requirement[]): string {
  // Without priority and penalties: the price of a machine does not depend on them.
  return makeProfile({ requirements }).fingerprint;
}
