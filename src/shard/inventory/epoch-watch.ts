// Compares the epochs on listed machines with the shard's own. Lower ones are from earlier starts. A higher one was written
// by a process with a higher epoch, which may or may not still run. The time of its appearance tells which: a higher epoch
// in the first read of a provider may be years old; one that appears later was written just now by a live process.
//
// process/shard.ts asks after every read of a provider. It logs `state-lost`; for `raise-epoch` it raises the epoch in the
// data directory and ends, to be started again; for `fenced` it ends as fenced.

export type EpochFinding =
  | { readonly kind: 'fine' }
  /** The data directory is new but the shard is not: its earlier state is lost. */
  | { readonly kind: 'state-lost' }
  /** The data directory is new, and an earlier process had a higher epoch: the shard must restart above it. */
  | { readonly kind: 'raise-epoch' }
  /** A newer process acts for this shard, or the data directory is older than the fleet. */
  | { readonly kind: 'fenced' };

export class EpochWatch {
  readonly #epoch: bigint;
  readonly #isNew: boolean;
  readonly #read = new Set<string>();
  #hasReportedLoss = false;

  /** `isNew`: this process created the data directory, so it knows no epoch other than its own. */
  constructor(epoch: bigint, isNew: boolean) {
    this.#epoch = epoch;
    this.#isNew = isNew;
  }

  /** `newest`: the highest epoch on the machines that a read of the provider reported as changed; null: there is none. */
  judge(provider: string, newest: bigint | null): EpochFinding {
    const isFirst = !this.#read.has(provider);
    this.#read.add(provider);
    if (newest === null || newest === this.#epoch) return { kind: 'fine' };
    if (newest > this.#epoch) return { kind: this.#isNew && isFirst ? 'raise-epoch' : 'fenced' };
    if (!this.#isNew || this.#hasReportedLoss) return { kind: 'fine' };
    this.#hasReportedLoss = true;
    return { kind: 'state-lost' };
  }
}

interface Epochs {
  readonly epoch: bigint;
  /** null: the provider does not say. */
  readonly newest: bigint | null;
}

/** Why a process gives way, and how to recover if no newer process exists. */
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
