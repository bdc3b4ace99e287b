// Classes with free machines of one state by kind: a pair of instance type and zone. Most patterns can use all classes of
// a kind or none, so where kinds have many classes, patterns share what is computed for a kind (coverage-blocks.ts).

import type { FleetView } from '../../fleet/index.ts';
import type { ClassAvailability } from './class-availability.ts';

/** From this number of classes per kind on, on average, patterns share what is computed for a kind. */
const MANY_CLASSES = 64;

export class ClassKinds {
  readonly #classes: FleetView['classes'];
  readonly #availability: ClassAvailability;
  readonly #numbers = new Map<string, Map<string, number>>();
  #kinds = 0;
  /** By kind: its classes with machines, ascending. */
  #members: readonly (readonly number[])[] = [];
  /** By class, where it has machines. */
  #kindOf = new Int32Array(0);
  /** By kind: position in the availability's changes at which a class of it changed last. */
  #changedAt: number[] = [];
  #seen = -1;

  constructor(fleet: FleetView, availability: ClassAvailability) {
    this.#classes = fleet.classes;
    this.#availability = availability;
  }

  /** Number of kinds, some of which may have no classes left. */
  get count(): number {
    return this.#kinds;
  }

  /** Whether kinds have enough classes on average for patterns to share them. */
  get haveMany(): boolean {
    const { length } = this.#availability.holding();
    if (length < MANY_CLASSES) return false;
    this.#follow();
    const inUse = this.#members.filter((members) => members.length > 0);
    return length >= MANY_CLASSES * inUse.length;
  }

  membersOf(kind: number): readonly number[] {
    this.#follow();
    return this.#members[kind] ?? [];
  }

  /** Whether the class had machines when the cycle began and is of this kind. */
  isOf(kind: number, classNumber: number): boolean {
    this.#follow();
    return this.#availability.holds(classNumber) && this.#kindOf[classNumber] === kind;
  }

  /** Whether the classes of a kind have changed since a reader of the availability's changes was at `position`. */
  changedSince(position: number, kind: number): boolean {
    this.#follow();
    return this.#changedAt[kind]! > position;
  }

  #follow(): void {
    const { changes } = this.#availability;
    if (this.#seen === changes.end) return;
    const changed = changes.since(this.#seen);
    const before = this.#kindOf;
    const previous = this.#kinds;
    this.#assign();
    if (changed === null) this.#changedAt = new Array<number>(this.#kinds).fill(changes.end);
    else {
      for (let kind = previous; kind < this.#kinds; kind++) this.#changedAt[kind] = changes.end;
      for (const c of changed) {
        for (const kind of [before[c], this.#kindOf[c]])
          if (kind !== undefined && kind >= 0) this.#changedAt[kind] = changes.end;
      }
    }
    this.#seen = changes.end;
  }

  #assign(): void {
    const { attributes } = this.#classes;
    const kindOf = new Int32Array(this.#availability.size).fill(-1);
    const members: number[][] = Array.from({ length: this.#kinds }, () => []);
    for (const c of this.#availability.holding()) {
      const { instanceType, zone } = attributes[c]!;
      const kind = this.#numberOf(instanceType, zone);
      kindOf[c] = kind;
      if (kind === members.length) members.push([]);
      members[kind]!.push(c);
    }
    this.#kindOf = kindOf;
    this.#members = members;
  }

  #numberOf(instanceType: string, zone: string): number {
    let byZone = this.#numbers.get(instanceType);
    if (byZone === undefined) {
      byZone = new Map();
      this.#numbers.set(instanceType, byZone);
    }
    let kind = byZone.get(zone);
    if (kind === undefined) {
      kind = this.#kinds++;
      byZone.set(zone, kind);
    }
    return kind;
  }
}
