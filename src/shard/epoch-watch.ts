// What epochs on machines say to a shard that lists them. Below its own they are its past. Above its own there is, or
// was, a process that counted further, and which of the two it is shows in when they appear: what the first reading of a
// provider finds may be years old, what appears later was bound just now by somebody who lives.

export type EpochFinding =
  | { readonly kind: 'fine' }
  /** The directory is new, and the shard is not. */
  | { readonly kind: 'past-lost' }
  /** The same, and its past counted further than this process: it must begin above that. */
  | { readonly kind: 'begin-above' }
  /** A newer process acts for this shard, or the directory is older than the fleet. */
  | { readonly kind: 'give-way' };

export class EpochWatch {
  readonly #epoch: bigint;
  readonly #isNew: boolean;
  readonly #read = new Set<string>();
  #hasToldLoss = false;

  /** `isNew`: this process made the directory, so it knows of no epoch but its own. */
  constructor(epoch: bigint, isNew: boolean) {
    this.#epoch = epoch;
    this.#isNew = isNew;
  }

  /** `newest`: the highest epoch on machines that a reading of a provider brought as changed; null: it brought none. */
  look(provider: string, newest: bigint | null): EpochFinding {
    const isFirst = !this.#read.has(provider);
    this.#read.add(provider);
    if (newest === null || newest === this.#epoch) return { kind: 'fine' };
    if (newest > this.#epoch) return { kind: this.#isNew && isFirst ? 'begin-above' : 'give-way' };
    if (!this.#isNew || this.#hasToldLoss) return { kind: 'fine' };
    this.#hasToldLoss = true;
    return { kind: 'past-lost' };
  }
}
