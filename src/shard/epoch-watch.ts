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

interface Epochs {
  readonly epoch: bigint;
  /** null: the provider does not say. */
  readonly newest: bigint | null;
}

/** Why a process gives way, and what to do if it should not have. */
export function fencedText(id: string, provider: string, { epoch, newest }: Epochs): string {
  const other = newest === null ? 'a newer process' : `a newer process, of epoch ${newest},`;
  const least = newest === null ? 'a number above every epoch it has used' : `${newest + 1n}`;
  return (
    `Provider ${provider} has seen ${other} of shard ${id}; this one, of epoch ${epoch}, stops. ` +
    `If no other runs, this data directory is older than what the provider remembers: start once with --epoch-at-least and ${least}.`
  );
}

export function raisedText(id: string, provider: string, { epoch, newest }: Epochs): string {
  return (
    `Provider ${provider} has machines that shard ${id} bound in epoch ${newest}, and this new data directory began at ${epoch}: ` +
    'the clock of this machine is behind. The epoch has been raised above it; start the shard again.'
  );
}
