// Machine classes: machines that no decision can tell apart but by id, state and binding. A requirement set is
// matched against a class, never against a machine. A class whose last machine left is forgotten and its number
// given out again, because moving spot prices make new classes all day.

import {
  type Attributes,
  type CapacityType,
  compareText,
  effectiveAllocatable,
  type LedgerMachine,
  NO_RESOURCES,
  type ResourceVector,
} from '../model/index.ts';
import { ChangeLog } from './changelog.ts';
import { extended, grownCapacity, sharedFloat64, sharedUint8 } from './columns.ts';
import type { Dimensions, VectorColumn } from './vectors.ts';

/** What machines of a class have in common. */
export type ClassFacts = Pick<
  LedgerMachine,
  | keyof Attributes
  | 'capacityType'
  | 'pricePerHour'
  | 'interruptionProbability'
  | 'resources'
  | 'allocatable'
  | 'drainSeconds'
>;

export class ClassTable {
  readonly #dimensions: Dimensions;
  readonly #numbers = new Map<string, number>();
  readonly #texts: string[] = [];
  readonly #free: number[] = [];
  readonly #members: number[] = [];
  /** Changes whenever a class comes or goes. */
  version = 0;
  /** Numbers whose class came or went. */
  readonly changes = new ChangeLog();
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
    this.#dimensions = dimensions;
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

  /** Refuses records that speak of too many resources, before any of them is written. */
  admit(machines: readonly Pick<ClassFacts, 'allocatable' | 'resources'>[]): void {
    this.#dimensions.admit(machines.map(effectiveAllocatable));
  }

  /** The class of a record, with one more member. Refused if it brings a resource too many; then nothing has changed. */
  join(machine: ClassFacts): number {
    const offered = effectiveAllocatable(machine);
    const text = classText(machine, offered);
    let number = this.#numbers.get(text);
    if (number === undefined) {
      this.#dimensions.admit([offered]);
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
      this.version++;
      this.changes.add(number);
      this.#texts[number] = text;
      this.#numbers.set(text, number);
      if (reused !== undefined) for (const listener of this.#listeners) listener(reused);
    }
    this.#members[number]!++;
    return number;
  }

  /** Takes over a class of another thread's fleet, or that its number is not in use; the columns come with them. */
  mirror(number: number, attributes: Attributes | undefined, offered: ResourceVector | undefined): void {
    this.changes.add(number);
    this.attributes[number] = attributes;
    this.offered[number] = offered;
    this.version++;
    for (const listener of this.#listeners) listener(number);
  }

  /** One member less. */
  leave(number: number): void {
    this.#members[number]!--;
    if (this.#members[number]! > 0) return;
    this.#numbers.delete(this.#texts[number]!);
    this.attributes[number] = undefined;
    this.offered[number] = undefined;
    this.version++;
    this.changes.add(number);
    this.#free.push(number);
  }

  /**
   * All machines of an instance type drain for so long: their classes stay what they are but for that. Returns classes that
   * would become like another one; their machines have to move there.
   */
  retime(instanceType: string, seconds: number): readonly number[] {
    const collided: number[] = [];
    for (const [number, attributes] of this.attributes.entries()) {
      if (attributes?.instanceType !== instanceType || this.drainSeconds[number] === seconds) continue;
      const facts = { ...this.factsOf(number), drainSeconds: seconds };
      const text = classText(facts, this.offered[number]!);
      if (this.#numbers.has(text)) {
        collided.push(number);
        continue;
      }
      this.#numbers.delete(this.#texts[number]!);
      this.#numbers.set(text, number);
      this.#texts[number] = text;
      this.drainSeconds[number] = seconds;
      // Another object: whoever has told what the class is like has to tell it again.
      this.attributes[number] = { ...attributes };
    }
    return collided;
  }

  /** What machines of the class have in common, as a record would say it. */
  factsOf(number: number): ClassFacts {
    return {
      ...this.attributes[number]!,
      capacityType: this.capacityTypeOf(number),
      pricePerHour: this.price[number]!,
      interruptionProbability: this.probability[number]!,
      resources: NO_RESOURCES,
      allocatable: this.offered[number]!,
      drainSeconds: this.drainSeconds[number]!,
    };
  }

  capacityTypeOf(number: number): CapacityType {
    return this.capacityType[number] as CapacityType;
  }

  #reserve(number: number): void {
    if (number < this.price.length) return;
    const capacity = grownCapacity(this.price.length, number + 1);
    this.price = extended(this.price, capacity);
    this.probability = extended(this.probability, capacity);
    this.drainSeconds = extended(this.drainSeconds, capacity);
    this.capacityType = extended(this.capacityType, capacity);
  }
}

/** Whether two records would be of one class. */
export function sameFacts(a: ClassFacts, b: ClassFacts): boolean {
  return (
    a.instanceType === b.instanceType &&
    a.zone === b.zone &&
    a.capacityType === b.capacityType &&
    a.pricePerHour === b.pricePerHour &&
    a.interruptionProbability === b.interruptionProbability &&
    a.drainSeconds === b.drainSeconds &&
    sameEntries(effectiveAllocatable(a), effectiveAllocatable(b)) &&
    sameEntries(a.labels, b.labels)
  );
}

function sameEntries<T>(a: ReadonlyMap<string, T>, b: ReadonlyMap<string, T>): boolean {
  if (a === b) return true;
  if (a.size !== b.size) return false;
  for (const [name, value] of a) if (b.get(name) !== value) return false;
  return true;
}

function classText(machine: ClassFacts, offered: ResourceVector): string {
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
