// Special Idle machines, which have a target or a reclamation penalty, as candidates of a pattern. There are few, they are
// in no slice of a class, and each is compared by itself. Made by candidate-tier.ts, used by free-machines.ts.

import type { FleetView } from '../../fleet/index.ts';
import type { ClassFilter } from './class-groups.ts';

/** Machines in keep order; those before `next` are claimed. */
export interface SpecialGroup {
  readonly slots: number[];
  next: number;
}

export class SpecialIdle {
  readonly #fleet: FleetView;
  readonly fits: ClassFilter;
  /** Whether only machines of equal amounts and price share a group, so that in each group keep order decides. */
  readonly isByAmounts: boolean;

  constructor(fleet: FleetView, fits: ClassFilter, isByAmounts: boolean) {
    this.#fleet = fleet;
    this.fits = fits;
    this.isByAmounts = isByAmounts;
  }

  /** The machines as of now. */
  groups(): readonly SpecialGroup[] {
    const { machines } = this.#fleet;
    const { offset, length } = machines.specialIdle;
    const groups = new Map<string, SpecialGroup>();
    const byClass = new Map<number, SpecialGroup | null>();
    for (let i = offset; i < offset + length; i++) {
      const slot = machines.arena.data[i]!;
      const classNumber = machines.classOf[slot]!;
      let group = byClass.get(classNumber);
      if (group === undefined) {
        group = this.fits(classNumber) ? this.#groupOf(classNumber, groups) : null;
        byClass.set(classNumber, group);
      }
      group?.slots.push(slot);
    }
    return [...groups.values()];
  }

  #groupOf(classNumber: number, groups: Map<string, SpecialGroup>): SpecialGroup {
    const { classes, dimensions } = this.#fleet;
    const from = classNumber * dimensions.stride;
    const amounts = classes.allocatable.data.subarray(from, from + dimensions.count);
    const text = this.isByAmounts ? `${classes.price[classNumber]}:${amounts.join()}` : '';
    let group = groups.get(text);
    if (group === undefined) {
      group = { slots: [], next: 0 };
      groups.set(text, group);
    }
    return group;
  }
}
