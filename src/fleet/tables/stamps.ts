// Interned stamps in columns. There are few distinct stamps, so a machine stores the number of its stamp. There are even
// fewer distinct losses, because rows of all clusters share priorities and penalties. Part of machine-table.ts.

import { ColumnGroup } from '../../collections/table.ts';
import type { Stamp } from '../../model/index.ts';

/** What losing a machine costs by its stamp; the priority is null if it is unknown. */
export interface StampedLoss {
  readonly priority: number | null;
  readonly interruptionDollars: number;
  readonly reclamationDollars: number;
}

const NO_LOSS: StampedLoss = { priority: null, interruptionDollars: 0, reclamationDollars: 0 };

export class StampTable {
  /** By fingerprint, then by the text of the other fields: avoids building texts that contain the long fingerprint. */
  readonly #numbers = new Map<string, Map<string, number>>();
  #count = 0;
  readonly #stamps: (Stamp | undefined)[] = [undefined];
  readonly #holders: number[] = [0];
  readonly #free: number[] = [];
  /** Distinct losses by number, undefined for a number that is not in use; entry 0 is the absence of a stamp. */
  readonly losses: (StampedLoss | undefined)[] = [NO_LOSS];
  readonly #lossNumbers = new Map<string, number>();
  /** By loss: the number of stamps with it. */
  readonly #lossHolders: number[] = [1];
  readonly #freeLosses: number[] = [];
  /** Entry 0 is the absence of a stamp. */
  readonly byNumber = new ColumnGroup(this, 1);
  /** 1 if the priority is known; a stamp without priority does not make its machine a victim. */
  readonly hasPriority = this.byNumber.u8();
  readonly priority = this.byNumber.i32();
  readonly interruptionDollars = this.byNumber.f64();
  readonly reclamationDollars = this.byNumber.f64();
  /** Number of its loss. */
  readonly loss = this.byNumber.u32();

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
      this.loss[number] = this.#retainLoss(stamp);
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
    this.#dropLoss(this.loss[number]!, stamp);
  }

  #retainLoss(stamp: Stamp): number {
    const text = lossText(stamp);
    let number = this.#lossNumbers.get(text);
    if (number === undefined) {
      number = this.#freeLosses.pop() ?? this.losses.length;
      this.#lossNumbers.set(text, number);
      this.#lossHolders[number] = 0;
      this.losses[number] = {
        priority: stamp.priority,
        interruptionDollars: stamp.interruptionPenaltyDollars,
        reclamationDollars: stamp.reclamationPenaltyDollars,
      };
    }
    this.#lossHolders[number]!++;
    return number;
  }

  #dropLoss(number: number, stamp: Stamp): void {
    if (--this.#lossHolders[number]! > 0) return;
    this.#lossNumbers.delete(lossText(stamp));
    this.losses[number] = undefined;
    this.#freeLosses.push(number);
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
function stampText(stamp: Stamp): string {
  return `${lossText(stamp)}/${stamp.group}`;
}

function lossText({ priority, interruptionPenaltyDollars, reclamationPenaltyDollars }: Stamp): string {
  return `${priority}/${interruptionPenaltyDollars}/${reclamationPenaltyDollars}`;
}
