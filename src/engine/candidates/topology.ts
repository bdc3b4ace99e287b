// The domains of one topology label with the changes in them: claims on free machines, which readers apply to their sums
// one by one, and counters of machines in any state. Written by gang-availability.ts, read by domain-availability.ts.

import { ChangeRing } from '../../collections/change-ring.ts';
import { withRoom } from '../../collections/columns.ts';
import type { Domains } from '../../fleet/index.ts';

/** What happened to the free machines of a class. */
export const FreeChange = {
  IdleTaken: 0,
  IdleReturned: 1,
  SpeculativeTaken: 2,
  SpeculativeReturned: 3,
  /** Several machines at once, between two cycles: sums of the domain must be computed again. */
  Restocked: 4,
} as const;
export type FreeChange = (typeof FreeChange)[keyof typeof FreeChange];

/** An entry of the log is the class number, shifted by this, and the change. */
const CHANGE_BITS = 3;
const CHANGE_MASK = 7;

export class Topology {
  readonly domains: Domains;
  /** Changes of free machines; `classOfEntry` and `changeOfEntry` read an entry. */
  readonly freeChanges = new ChangeRing();
  #memberChanges = new Uint32Array(0);
  /** In all domains. */
  memberChanges = 0;

  constructor(domains: Domains) {
    this.domains = domains;
  }

  memberChangesIn(domain: number): number {
    return this.#memberChanges[domain]!;
  }

  /** Makes room for all numbered domains. */
  reserve(): void {
    this.#memberChanges = withRoom(this.#memberChanges, this.domains.names.length);
  }

  noteFreeChange(classNumber: number, change: FreeChange): void {
    this.freeChanges.add((classNumber << CHANGE_BITS) | change);
  }

  /** A machine was added to a class or removed from it. */
  noteMemberChange(classNumber: number): void {
    const domain = this.domains.of(classNumber);
    if (domain < 0 || domain >= this.#memberChanges.length) return;
    this.#memberChanges[domain]!++;
    this.memberChanges++;
  }
}

export function classOfEntry(entry: number): number {
  return entry >>> CHANGE_BITS;
}

export function changeOfEntry(entry: number): FreeChange {
  return (entry & CHANGE_MASK) as FreeChange;
}
