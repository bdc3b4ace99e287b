// Machine classes: machines that differ for a decision only in id, state and binding. Requirement sets are matched
// against classes, never against machines. A class is removed with its last machine and its number is reused, because
// changing spot prices create new classes continuously. Part of `Fleet`; only machine-table.ts and machine-drafts.ts
// change them, in a commit.

import { ChangeLog } from '../../collections/changelog.ts';
import { ColumnGroup } from '../../collections/table.ts';
import {
  type Attributes,
  type CapacityType,
  compareText,
  effectiveAllocatable,
  type LedgerMachine,
  NO_RESOURCES,
  type ResourceVector,
} from '../../model/index.ts';
import type { Dimensions, VectorColumn } from './vectors.ts';

/** The facts that all machines of a class share. */
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

/** The facts of a class that the provider states; the shard measures the drain time. */
export type Offer = Omit<ClassFacts, 'drainSeconds'>;

export class ClassTable {
  readonly #dimensions: Dimensions;
  readonly #numbers = new Map<string, number>();
  readonly #texts: string[] = [];
  /** By number: the result of `factsOf`, once it was asked for. */
  readonly #facts: (ClassFacts | undefined)[] = [];
  /** Texts of facts that many machines share, for as long as a machine refers to them. */
  readonly #sharedTexts = new WeakMap<ClassFacts, string>();
  readonly #free: number[] = [];
  readonly #members: number[] = [];
  /** Incremented whenever a class is added or removed. */
  version = 0;
  /** Numbers whose class was added or removed. */
  readonly changes = new ChangeLog();
  /** Attributes that requirements are matched against; undefined for a number that is not in use. */
  readonly attributes: (Attributes | undefined)[] = [];
  /** Effective allocatable of a machine of the class, as a vector and as a column. */
  readonly offered: (ResourceVector | undefined)[] = [];
  readonly allocatable: VectorColumn;
  readonly byNumber = new ColumnGroup(this);
  readonly price = this.byNumber.f64();
  readonly probability = this.byNumber.f64();
  readonly drainSeconds = this.byNumber.f64();
  readonly capacityType = this.byNumber.u8();
  readonly #listeners: ((number: number) => void)[] = [];

  constructor(dimensions: Dimensions) {
    this.#dimensions = dimensions;
    this.allocatable = dimensions.column();
  }

  /** Registers a callback for reused numbers, so that caches of the former class are invalidated. */
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
    return this.allocatable.bytes + this.byNumber.bytes;
  }

  /** Assigns dimensions to all resources of the records; throws before any write if there are too many. */
  admit(machines: readonly Pick<ClassFacts, 'allocatable' | 'resources'>[]): void {
    this.#dimensions.admit(machines.map(effectiveAllocatable));
  }

  /** Keeps the class text of facts that many machines are going to join with: it takes longer to build than all else. */
  keepText(facts: ClassFacts, text: string): void {
    this.#sharedTexts.set(facts, text);
  }

  /** Adds members to the class of a record and returns its number. Throws, without a change, beyond `MAX_DIMENSIONS`. */
  join(machine: ClassFacts, members = 1): number {
    const offered = effectiveAllocatable(machine);
    const text = this.#sharedTexts.get(machine) ?? classText(machine);
    let number = this.#numbers.get(text);
    if (number === undefined) {
      this.#dimensions.admit([offered]);
      const reused = this.#free.pop();
      number = reused ?? this.attributes.length;
      this.allocatable.set(number, offered);
      this.byNumber.reserve(number + 1);
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
      this.#facts[number] = undefined;
      this.#members[number] = 0;
      this.version++;
      this.changes.add(number);
      this.#texts[number] = text;
      this.#numbers.set(text, number);
      if (reused !== undefined) for (const listener of this.#listeners) listener(reused);
    }
    this.#members[number]! += members;
    return number;
  }

  /** Copies a class of another thread's fleet, undefined if the number is not in use; columns are shared separately. */
  mirror(number: number, attributes: Attributes | undefined, offered: ResourceVector | undefined): void {
    this.changes.add(number);
    this.attributes[number] = attributes;
    this.offered[number] = offered;
    this.version++;
    for (const listener of this.#listeners) listener(number);
  }

  leave(number: number, members = 1): void {
    this.#members[number]! -= members;
    if (this.#members[number]! > 0) return;
    this.#numbers.delete(this.#texts[number]!);
    this.attributes[number] = undefined;
    this.offered[number] = undefined;
    this.version++;
    this.changes.add(number);
    this.#free.push(number);
  }

  /**
   * Sets the drain time of all classes of an instance type in place. Returns, unchanged, the classes that would become
   * equal to another one; the caller has to move their machines there.
   */
  retime(instanceType: string, seconds: number): readonly number[] {
    const collided: number[] = [];
    for (const [number, attributes] of this.attributes.entries()) {
      if (attributes?.instanceType !== instanceType || this.drainSeconds[number] === seconds) continue;
      const facts = { ...this.factsOf(number), drainSeconds: seconds };
      const text = classText(facts);
      if (this.#numbers.has(text)) {
        collided.push(number);
        continue;
      }
      this.#numbers.delete(this.#texts[number]!);
      this.#numbers.set(text, number);
      this.#texts[number] = text;
      this.drainSeconds[number] = seconds;
      this.#facts[number] = facts;
      // A new object, so that publishers that compare by identity send the class to the workers again.
      this.attributes[number] = { ...attributes };
    }
    return collided;
  }

  /** The shared facts of a class; all amounts are in `allocatable`, and `resources` is empty. */
  factsOf(number: number): ClassFacts {
    const known = this.#facts[number];
    if (known !== undefined) return known;
    const facts: ClassFacts = {
      ...this.attributes[number]!,
      capacityType: this.capacityTypeOf(number),
      pricePerHour: this.price[number]!,
      interruptionProbability: this.probability[number]!,
      resources: NO_RESOURCES,
      allocatable: this.offered[number]!,
      drainSeconds: this.drainSeconds[number]!,
    };
    this.#facts[number] = facts;
    return facts;
  }

  capacityTypeOf(number: number): CapacityType {
    return this.capacityType[number] as CapacityType;
  }
}

/** Whether two records belong to the same class. */
export function sameFacts(a: ClassFacts, b: ClassFacts): boolean {
  return a.drainSeconds === b.drainSeconds && sameOffer(a, b);
}

/** Whether two records agree in all facts that the provider states. */
export function sameOffer(a: Offer, b: Offer): boolean {
  return (
    a.instanceType === b.instanceType &&
    a.zone === b.zone &&
    a.capacityType === b.capacityType &&
    a.pricePerHour === b.pricePerHour &&
    a.interruptionProbability === b.interruptionProbability &&
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

/** Equal for facts of the same class only. */
export function classText(machine: ClassFacts): string {
  const offered = effectiveAllocatable(machine);
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
