// Interned stamps in columns. There are few distinct stamps, so a machine stores the number of its stamp. Part of
// machine-table.ts.

import { ColumnGroup } from '../../collections/table.ts';
import type { Stamp } from '../../model/index.ts';

export class StampTable {
  /** By fingerprint, then by the text of the other fields: avoids building texts that contain the long fingerprint. */
  readonly #numbers = new Map<string, Map<string, number>>();
  #count = 0;
  readonly #stamps: (Stamp | undefined)[] = [undefined];
  readonly #holders: number[] = [0];
  readonly #free: number[] = [];
  /** Entry 0 is the absence of a stamp. */
  readonly byNumber = new ColumnGroup(this, 1);
  /** 1 if the priority is known; a stamp without priority does not make its machine a victim. */
  readonly hasPriority = this.byNumber.u8();
  readonly priority = this.byNumber.i32();
  readonly interruptionDollars = this.byNumber.f64();
  readonly reclamationDollars = this.byNumber.f64();

  /** Adds a reference to a stamp and returns its number; 0 for null. */
  retain(stamp: Stamp | null): number {
    if (stamp === null) return 0;
    const numbers = this.#numbersOf(stamp.fingerprint);
    const text = stampText(stamp);
    let number = numbers.get(text);
    if (number === undefined) {
      number = this.#free.pop() ?? this.#stamps.length;
      this.byNumber.reserve(number + 1);
      numbers.set(text, number);
      this.#count++;
      this.#stamps[number] = stamp;
      this.#holders[number] = 0;
      this.hasPriority[number] = stamp.priority === null ? 0 : 1;
      this.priority[number] = stamp.priority ?? 0;
      this.interruptionDollars[number] = stamp.interruptionPenaltyDollars;
      this.reclamationDollars[number] = stamp.reclamationPenaltyDollars;
    }
    this.#holders[number]!++;
    return number;
  }

  /** Stamps in use. */
  get count(): number {
    return this.#count;
  }

  /** Drops a reference. */
  drop(number: number): void {
    if (number === 0 || --this.#holders[number]! > 0) return;
    const stamp = this.#stamps[number]!;
    const numbers = this.#numbersOf(stamp.fingerprint);
    numbers.delete(stampText(stamp));
    if (numbers.size === 0) this.#numbers.delete(stamp.fingerprint);
    this.#count--;
    this.#stamps[number] = undefined;
    this.#free.push(number);
  }

  stampOf(number: number): Stamp | null {
    return this.#stamps[number] ?? null;
  }

  #numbersOf(fingerprint: string): Map<string, number> {
    let numbers = this.#numbers.get(fingerprint);
    if (numbers === undefined) {
      numbers = new Map();
      this.#numbers.set(fingerprint, numbers);
    }
    return numbers;
  }
}

/** All fields of a stamp except the fingerprint. */
function stampText({
  priority,
  interruptionPenaltyDollars,
  reclamationPenaltyDollars,
  group,
}: Stamp): string {
  return `${priority}/${interruptionPenaltyDollars}/${reclamationPenaltyDollars}/${group}`;
}
