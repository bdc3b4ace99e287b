// The provider of each machine: one byte per ledger slot, because a map of half a million names would cost more memory
// than the machines themselves. A new machine gets its slot at the next commit; until then a map holds its provider.
// Part of machine-ledger.ts.

import type { MachineTable } from '../../fleet/index.ts';

/** A provider's number fits a byte, and 0 means no provider. */
const MAX_PROVIDERS = 255;

export class Owners {
  readonly #names: string[] = [''];
  readonly #counts: number[] = [0];
  #column = new Uint8Array(0);
  readonly #waiting = new Map<string, number>();

  of(id: string, slot: number | undefined): string | undefined {
    const number = this.#waiting.get(id) ?? (slot === undefined ? 0 : (this.#column[slot] ?? 0));
    return number === 0 ? undefined : this.#names[number];
  }

  /** Whether the machine in a ledger slot, as of the last commit, belongs to the provider. */
  hasSlot(provider: string, slot: number): boolean {
    return this.#column[slot] === this.#names.indexOf(provider);
  }

  countOf(provider: string): number {
    return this.#counts[this.#names.indexOf(provider)] ?? 0;
  }

  note(id: string, provider: string): void {
    const number = this.#numberOf(provider);
    this.#counts[number]!++;
    this.#waiting.set(id, number);
  }

  forget(id: string, slot: number | undefined): void {
    const number = this.#waiting.get(id) ?? this.#column[slot ?? -1] ?? 0;
    this.#counts[number]!--;
    this.#waiting.delete(id);
    if (slot !== undefined && slot < this.#column.length) this.#column[slot] = 0;
  }

  /** Moves machines from the map into the column, once the commit has assigned their slots. */
  settle(machines: MachineTable): void {
    if (this.#waiting.size === 0) return;
    if (machines.size > this.#column.length) this.#grow(machines.size);
    for (const [id, number] of this.#waiting) {
      const slot = machines.slotOf(id);
      if (slot !== undefined) this.#column[slot] = number;
    }
    this.#waiting.clear();
  }

  #grow(size: number): void {
    const larger = new Uint8Array(Math.max(size, this.#column.length * 2));
    larger.set(this.#column);
    this.#column = larger;
  }

  #numberOf(provider: string): number {
    const known = this.#names.indexOf(provider);
    if (known > 0) return known;
    if (this.#names.length > MAX_PROVIDERS) throw new Error(`more than ${MAX_PROVIDERS} providers`);
    this.#counts.push(0);
    return this.#names.push(provider) - 1;
  }
}
