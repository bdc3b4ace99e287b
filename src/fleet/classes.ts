// Machine classes: machines that no decision can tell apart but by id, state and binding. A requirement set is
// matched against a class, never against a machine. A class whose last machine left is forgotten and its number
// given out again, because moving spot prices make new classes all day.

import {
  type Attributes,
  type CapacityType,
  compareText,
  effectiveAllocatable,
  type LedgerMachine,
  type ResourceVector,
} from '../model/index.ts';
import { extended, grownCapacity, sharedFloat64, sharedUint8 } from './columns.ts';
import type { Dimensions, VectorColumn } from './vectors.ts';

export class ClassTable {
  readonly #numbers = new Map<string, number>();
  readonly #texts: string[] = [];
  readonly #free: number[] = [];
  readonly #members: number[] = [];
  /** What requirements see; undefined for a number that is not in use. */
  readonly attributes: (Attributes | undefined)[] = [];
  /** What a machine of the class offers, as a vector and as a column. */
  readonly offered: (ResourceVector | undefined)[] = [];
  readonly allocatable: VectorColumn;
  price: Float64Array = sharedFloat64(0);
  probability: Float64Array = sharedFloat64(0);
  drainSeconds: Float64Array = sharedFloat64(0);
  capacityType: Uint8Array = sharedUint8(0);
  readonly #listeners: ((number: number) => void)[] = [];

  constructor(dimensions: Dimensions) {
    this.allocatable = dimensions.column();
  }

  /** Calls back when a number is given out again, so that what was remembered of its former class is dropped. */
  onReuse(listener: (number: number) => void): void {
    this.#listeners.push(listener);
  }

  /** One more than the largest number in use. */
  get size(): number {
    return this.attributes.length;
  }

  /** Classes in use. */
  get count(): number {
    return this.#numbers.size;
  }

  get bytes(): number {
    return this.allocatable.bytes + this.price.byteLength * 3 + this.capacityType.byteLength;
  }

  /** The class of a record, with one more member. */
  join(machine: LedgerMachine): number {
    const offered = effectiveAllocatable(machine);
    const text = classText(machine, offered);
    let number = this.#numbers.get(text);
    if (number === undefined) {
      const reused = this.#free.pop();
      number = reused ?? this.attributes.length;
      this.allocatable.set(number, offered);
      this.#reserve(number);
      this.price[number] = machine.pricePerHour;
      this.probability[number] = machine.interruptionProbability;
      this.drainSeconds[number] = machine.drainSeconds;
      this.capacityType[number] = machine.capacityType;
      this.attributes[number] = {
        instanceType: machine.instanceType,
        zone: machine.zone,
        labels: machine.labels,
      };
      this.offered[number] = offered;
      this.#members[number] = 0;
      this.#texts[number] = text;
      this.#numbers.set(text, number);
      if (reused !== undefined) for (const listener of this.#listeners) listener(reused);
    }
    this.#members[number]!++;
    return number;
  }

  /** One member less. */
  leave(number: number): void {
    this.#members[number]!--;
    if (this.#members[number]! > 0) return;
    this.#numbers.delete(this.#texts[number]!);
    this.attributes[number] = undefined;
    this.offered[number] = undefined;
    this.#free.push(number);
  }

  capacityTypeOf(number: number): CapacityType {
    return this.capacityType[number] as CapacityType;
  }

  #reserve(number: number): void {
    if (number < this.price.length) return;
    const capacity = grownCapacity(this.price.length, number + 1);
    this.price = extended(this.price, sharedFloat64(capacity));
    this.probability = extended(this.probability, sharedFloat64(capacity));
    this.drainSeconds = extended(this.drainSeconds, sharedFloat64(capacity));
    this.capacityType = extended(this.capacityType, sharedUint8(capacity));
  }
}

function classText(machine: LedgerMachine, offered: ResourceVector): string {
  const parts: (string | number)[] = [
    machine.instanceType,
    machine.zone,
    machine.capacityType,
    machine.pricePerHour,
    machine.interruptionProbability,
    machine.drainSeconds,
  ];
  for (const name of [...offered.keys()].sort(compareText)) parts.push(name, offered.get(name)!);
  parts.push('');
  for (const name of [...machine.labels.keys()].sort(compareText))
    parts.push(name, machine.labels.get(name)!);
  return JSON.stringify(parts);
}
