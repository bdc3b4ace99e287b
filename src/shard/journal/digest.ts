// A digest of a cycle's decision: equal decisions have equal digests, whatever slots and row numbers the ledger uses.
// 64 bits and not cryptographic: the input is not adversarial, and the digest is computed in every cycle. recorder.ts
// writes it to the journal; replay.ts compares it.

import type { Action, NeedKey, ResourceVector, Verdict } from '../../model/index.ts';

/** The parts of a decision that a digest covers. */
export interface Decided {
  readonly actions: Iterable<Action>;
  readonly restamps: ReadonlyMap<string, NeedKey>;
  readonly retargets: ReadonlyMap<string, NeedKey>;
  /** Verdicts on the Needs that are not met. */
  readonly unmet: readonly Verdict[];
  /** Which row counts on which machine; null: left out. */
  readonly claims: ReadonlyMap<string, NeedKey> | null;
}

/**
 * Machines up to which claims are part of every digest. Hashing them takes 0.1 µs per machine, which is too long for
 * every cycle of a large fleet; there, a different claim shows in the actions and verdicts that follow from it.
 */
export const MAX_DIGESTED_CLAIMS = 20_000;

/** Sixteen hexadecimal digits. */
export function digestOf({ actions, restamps, retargets, unmet, claims }: Decided): string {
  const digest = new Digest();
  for (const action of actions) digest.action(action);
  digest.keys(restamps);
  digest.number(unmet.length);
  for (const verdict of unmet) digest.verdict(verdict);
  if (claims !== null) digest.keys(claims);
  // Left out where there is none, so that digests of journals from before re-targets stay valid.
  if (retargets.size > 0) {
    digest.word('retargets');
    digest.keys(retargets);
  }
  return digest.hex;
}

/** Cached hashes of long texts that recur: fingerprints, clusters, groups. */
const known = new Map<string, readonly [number, number]>();
const MAX_KNOWN = 100_000;

const float = new Float64Array(1);
const halves = new Int32Array(float.buffer);

class Digest {
  #a = 0x811c9dc5;
  #b = 0x9e3779b9;

  get hex(): string {
    return [this.#a, this.#b].map((part) => (part >>> 0).toString(16).padStart(8, '0')).join('');
  }

  action({ kind, machine, cluster, reason, graceSeconds, preemptorPriority, need }: Action): void {
    this.word(kind);
    this.text(machine);
    this.word(cluster);
    this.word(reason);
    this.number(graceSeconds);
    this.number(preemptorPriority);
    this.key(need);
  }

  verdict(verdict: Verdict): void {
    const { key, priority, foldedInto, deficit, domain, satisfiable, candidates, unmet } = verdict;
    this.key(key);
    this.number(priority);
    this.key(foldedInto);
    this.vector(deficit);
    this.ids(verdict.claimed);
    this.ids(verdict.bootstraps);
    this.ids(verdict.provisions);
    this.ids(verdict.preempts);
    this.word(domain ?? 'none');
    this.word(String(satisfiable));
    for (const { domain: name, coverage, worstCoverage } of candidates) {
      this.word(name);
      this.number(coverage);
      this.number(worstCoverage);
    }
    if (unmet === null) return;
    const { reason, matching, blocker, extraSupply } = unmet;
    this.word(reason);
    this.number(matching.idle);
    this.number(matching.speculative);
    this.number(matching.configured);
    this.key(blocker);
    this.number(extraSupply?.count ?? -1);
    this.text(extraSupply?.like ?? '');
  }

  keys(keys: ReadonlyMap<string, NeedKey>): void {
    this.number(keys.size);
    for (const [id, key] of keys) {
      this.text(id);
      this.key(key);
    }
  }

  key(key: NeedKey | null): void {
    if (key === null) {
      this.#mix(1, 1);
      return;
    }
    this.word(key.cluster);
    this.word(key.fingerprint);
    this.word(key.group);
  }

  /** Independent of the order, which in a vector is that in which the ledger first saw the resources. */
  vector(vector: ResourceVector): void {
    let a = vector.size;
    let b = 0;
    for (const [name, units] of vector) {
      const [c, d] = wordHash(name);
      float[0] = units;
      a = (a + Math.imul(c ^ halves[0]!, 0x85ebca6b)) | 0;
      b = (b + Math.imul(d ^ halves[1]! ^ Math.imul(halves[0]!, 0x27d4eb2f), 0xc2b2ae35)) | 0;
    }
    this.#mix(a, b);
  }

  ids(ids: readonly string[]): void {
    this.number(ids.length);
    for (const id of ids) this.text(id);
  }

  number(value: number): void {
    float[0] = value;
    this.#mix(halves[0]!, halves[1]!);
  }

  /** A text that recurs; its hash is cached. */
  word(text: string): void {
    const [a, b] = wordHash(text);
    this.#mix(a, b);
  }

  text(text: string): void {
    const [a, b] = hashOf(text);
    this.#mix(a, b);
  }

  #mix(a: number, b: number): void {
    this.#a = Math.imul(this.#a ^ a, 0x85ebca6b);
    this.#a ^= this.#a >>> 13;
    this.#b = Math.imul(this.#b ^ b, 0xc2b2ae35) + this.#a;
    this.#b ^= this.#b >>> 16;
  }
}

function wordHash(text: string): readonly [number, number] {
  let hash = known.get(text);
  if (hash === undefined) {
    if (known.size >= MAX_KNOWN) known.clear();
    hash = hashOf(text);
    known.set(text, hash);
  }
  return hash;
}

/** The length is hashed first, so that two adjacent texts cannot be confused with others of the same concatenation. */
function hashOf(text: string): readonly [number, number] {
  let a = Math.imul(text.length + 1, 0x9e3779b1);
  let b = a ^ 0x5bd1e995;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    a = Math.imul(a ^ code, 0x01000193);
    b = Math.imul((b << 5) ^ (b >>> 27) ^ code, 0x5bd1e995);
  }
  return [a ^ (a >>> 15), b ^ (b >>> 13)];
}
