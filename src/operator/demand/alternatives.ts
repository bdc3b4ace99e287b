// Pods whose node affinity has several alternatives that no single row can express: which of them their pending pods ask
// for. The cheapest published capacity is tried first, the next one when the row stays short. Pods that run count for the
// alternative that their node meets, so a change here moves pending pods only.

import { makeProfile, type Profile, type Requirement } from '../../model/index.ts';
import type { RowKey } from './contract.ts';

/** What the shard published about machines with certain requirements. */
export interface PublishedCapacity {
  readonly requirements: readonly Requirement[];
  readonly count: number;
  readonly costPerHour: number;
}

interface Choice {
  readonly profiles: readonly Profile[];
  readonly group: string;
  /** Indexes of the alternatives, best first. */
  readonly order: readonly number[];
  /** Place in `order`. */
  at: number;
  sinceMs: number;
}

const MAX_PUBLISHED = 16_384;
const MAX_VERDICTS = 131_072;

export class Alternatives {
  /** How long a row may stay short before its pods ask for the next alternative. */
  readonly #patienceMs: number;
  readonly #choices = new Map<string, Choice>();
  readonly #published = new Map<string, PublishedCapacity>();
  /** By row: whether the shard has satisfied it. */
  readonly #verdicts = new Map<string, boolean>();

  constructor(patienceMs: number) {
    this.#patienceMs = patienceMs;
  }

  get size(): number {
    return this.#choices.size;
  }

  published(capacity: PublishedCapacity): void {
    if (this.#published.size >= MAX_PUBLISHED) this.#published.clear();
    this.#published.set(textOf(capacity.requirements), capacity);
  }

  /** `satisfied` null: the row is gone. */
  verdict(row: RowKey, satisfied: boolean | null): void {
    if (satisfied === null) this.#verdicts.delete(rowText(row));
    else {
      if (this.#verdicts.size >= MAX_VERDICTS) this.#verdicts.clear();
      this.#verdicts.set(rowText(row), satisfied);
    }
  }

  /** The session ended, or the shard is about to send all verdicts again. */
  forgetVerdicts(): void {
    this.#verdicts.clear();
  }

  /** The index of the alternative that pending pods ask for. `key` identifies the alternatives. */
  current(key: string, profiles: readonly Profile[], group: string, nowMs: number): number {
    let choice = this.#choices.get(key);
    if (choice === undefined) {
      choice = { profiles, group, order: this.#inOrder(profiles), at: 0, sinceMs: nowMs };
      this.#choices.set(key, choice);
    }
    return choice.order[choice.at]!;
  }

  /**
   * Moves on from alternatives that stay short, and forgets the choice where no pod is pending, so that the next pod starts
   * with the cheapest again. `pending`: keys with pending pods. Returns the keys whose alternative changed.
   */
  review(pending: ReadonlySet<string>, nowMs: number): ReadonlySet<string> {
    const moved = new Set<string>();
    for (const [key, choice] of this.#choices) {
      if (!pending.has(key)) this.#choices.delete(key);
      else if (this.#isShort(choice, nowMs)) {
        choice.at = (choice.at + 1) % choice.order.length;
        choice.sinceMs = nowMs;
        moved.add(key);
      }
    }
    return moved;
  }

  /** Pods that wait for machines which the shard has found are not short. */
  #isShort({ profiles, group, order, at, sinceMs }: Choice, nowMs: number): boolean {
    if (nowMs - sinceMs < this.#patienceMs) return false;
    const { fingerprint } = profiles[order[at]!]!;
    return this.#verdicts.get(rowText({ fingerprint, group })) !== true;
  }

  /** Available and cheapest first, then those without a published price, then those known to have run out. */
  #inOrder(profiles: readonly Profile[]): readonly number[] {
    const rank = profiles.map(({ requirements }) => {
      const capacity = this.#published.get(textOf(requirements));
      if (capacity === undefined) return [1, 0] as const;
      return capacity.count > 0 ? ([0, capacity.costPerHour] as const) : ([2, capacity.costPerHour] as const);
    });
    return profiles
      .map((_, index) => index)
      .sort((a, b) => rank[a]![0] - rank[b]![0] || rank[a]![1] - rank[b]![1] || a - b);
  }
}

function textOf(requirements: readonly Requirement[]): string {
  // Without priority and penalties: the price of a machine does not depend on them.
  return makeProfile({ requirements }).fingerprint;
}

function rowText({ fingerprint, group }: RowKey): string {
  return `${fingerprint}\n${group}`;
}
