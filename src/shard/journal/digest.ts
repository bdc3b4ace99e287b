// A digest of what a cycle decided: equal decisions have equal digests, whatever numbers the ledger knows its machines and
// rows by. Sixty-four bits, since nobody tries to deceive it and it is made in every cycle.

import {
  type Action,
  compareText,
  type NeedKey,
  type ResourceVector,
  type Verdict,
} from '../../model/index.ts';

/** What a digest covers. */
export interface Decided {
  readonly actions: Iterable<Action>;
  readonly restamps: ReadonlyMap<string, NeedKey>;
  /** Verdicts on the Needs that are not met. */
  readonly unmet: readonly Verdict[];
  /** Which row counts on which machine; null: left out. */
  readonly claims: ReadonlyMap<string, NeedKey> | null;
}

/**
 * Machines up to which claims are part of every digest. Naming them takes a tenth of a microsecond a machine, which a
 * large fleet feels in every cycle; there a claim that differs shows by the actions and verdicts it leads to.
 */
export const MAX_DIGESTED_CLAIMS = 20_000;

/** Sixteen hexadecimal digits. */
export function digestOf({ actions, restamps, unmet, claims }: Decided): string {
  const digest = new Digest();
  for (const action of actions) digest.action(action);
  digest.keys(restamps);
  digest.number(unmet.length);
  for (const verdict of unmet) digest.verdict(verdict);
  if (claims !== null) digest.keys(claims);
  return digest.hex;
}

/** Hashes of texts that come again and again and are long: fingerprints, clusters, groups. */
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
    for (const ids of [verdict.claimed, verdict.bootstraps, verdict.provisions, verdict.preempts]) {
      this.number(ids.length);
      for (const id of ids) this.text(id);
    }
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
    for (const count of [matching.idle, matching.speculative, matching.configured]) this.number(count);
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

  /** By name: the order in a vector is that in which the ledger met the resources. */
  vector(vector: ResourceVector): void {
    this.number(vector.size);
    for (const name of [...vector.keys()].sort(compareText)) {
      this.word(name);
      this.number(vector.get(name)!);
    }
  }

  number(value: number): void {
    float[0] = value;
    this.#mix(halves[0]!, halves[1]!);
  }

  /** A text that will come again. */
  word(text: string): void {
    let hash = known.get(text);
    if (hash === undefined) {
      if (known.size >= MAX_KNOWN) known.clear();
      hash = hashOf(text);
      known.set(text, hash);
    }
    this.#mix(hash[0], hash[1]);
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

/** The length goes in first, so that texts one behind the other cannot run into each other. */
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
