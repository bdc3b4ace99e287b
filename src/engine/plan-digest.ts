// A whole plan in one short text, to compare two of them without holding either. Not against an adversary: 64 bits that
// differ by chance where plans do. The engine uses no module of Node, so it has no SHA-256.

import type { Action, NeedKey, Plan, Verdict } from '../model/index.ts';

/** A plan whose parts are worked out when asked for, one at a time. */
export type PlanParts = { readonly [Part in keyof Plan]: () => Plan[Part] };

/** Over actions, claims, re-stamps and verdicts, each in its order. Only one of them exists at a time. */
export function planDigest(parts: PlanParts): string {
  const hash = new TextHash();
  for (const action of parts.actions()) addAction(hash, action);
  addMachines(hash, parts.claims());
  addMachines(hash, parts.restamps());
  for (const verdict of parts.verdicts()) addVerdict(hash, verdict);
  return hash.text();
}

function addAction(hash: TextHash, { need, ...action }: Action): void {
  hash.add(JSON.stringify(Object.values(action)));
  addKey(hash, need);
}

function addMachines(hash: TextHash, rows: ReadonlyMap<string, NeedKey>): void {
  hash.add(`${rows.size}`);
  for (const [machine, row] of rows) {
    hash.add(machine);
    addKey(hash, row);
  }
}

function addKey(hash: TextHash, key: NeedKey | null): void {
  if (key === null) {
    hash.add('');
    return;
  }
  hash.add(key.cluster);
  hash.add(key.fingerprint);
  hash.add(key.group);
}

function addVerdict(hash: TextHash, verdict: Verdict): void {
  const { key, foldedInto, deficit, claimed, bootstraps, provisions, preempts, unmet, ...rest } = verdict;
  addKey(hash, key);
  addKey(hash, foldedInto);
  for (const machines of [claimed, bootstraps, provisions, preempts]) {
    hash.add(`${machines.length}`);
    for (const machine of machines) hash.add(machine);
  }
  hash.add(JSON.stringify([Object.values(rest), [...deficit], unmet]));
}

/** Two sums of 32 bits over the characters, mixed at the end (after cyrb53). */
class TextHash {
  #a = 0xde_ad_be_ef;
  #b = 0x41_c6_ce_57;

  /** Adds a text and its end, so that "ab", "c" is not "a", "bc". */
  add(text: string): void {
    let a = this.#a;
    let b = this.#b;
    for (let i = 0; i < text.length; i++) {
      const unit = text.charCodeAt(i);
      a = Math.imul(a ^ unit, 2_654_435_761);
      b = Math.imul(b ^ unit, 1_597_334_677);
    }
    // No character is as large.
    this.#a = Math.imul(a ^ 0x1_00_00, 2_654_435_761);
    this.#b = Math.imul(b ^ 0x1_00_00, 1_597_334_677);
  }

  text(): string {
    const a =
      Math.imul(this.#a ^ (this.#a >>> 16), 2_246_822_507) ^
      Math.imul(this.#b ^ (this.#b >>> 13), 3_266_489_909);
    const b = Math.imul(this.#b ^ (this.#b >>> 16), 2_246_822_507) ^ Math.imul(a ^ (a >>> 13), 3_266_489_909);
    return [a, b].map((part) => (part >>> 0).toString(16).padStart(8, '0')).join('');
  }
}
