// The free machines of every pattern that gangs use, kept between cycles and updated incrementally, and the numbers of
// machines of each class. `cycle.availability`: pool-pass.ts reports claims to it, and the files that serve or explain
// gangs read `PatternAvailability` (domain-availability.ts) from it.

import { withRoom } from '../../collections/columns.ts';
import { MachineState } from '../../model/index.ts';
import type { Cycle } from '../cycle.ts';
import { PatternAvailability } from './domain-availability.ts';
import { FreeChange, Topology } from './topology.ts';

/** States of machines that can serve a row, now or after a transition. Blocked machines are counted separately. */
const USABLE = [
  MachineState.Speculative,
  MachineState.Creating,
  MachineState.Idle,
  MachineState.Configuring,
  MachineState.Configured,
  MachineState.Draining,
];

const NEVER = -1;

/** The availability of every pattern that gangs use, kept between cycles and updated incrementally. */
export class GangAvailability {
  readonly #cycle: Cycle;
  #topologies: Topology[] = [];
  /** By pattern, those without Speculative machines that are purchased under the complement of its number. */
  #byPattern = new Map<number, PatternAvailability>();
  #earlier = new Map<number, PatternAvailability>();
  #isTentative = false;
  /** Classes with machines claimed in this cycle, and by class whether it is one of them. */
  #touched: number[] = [];
  #isTouched = new Uint8Array(0);
  /** By class: one more than the number of its machines in a usable state; 0 if not computed. */
  #members = new Int32Array(0);
  #restockedSeen = NEVER;
  #countedSeen = NEVER;

  constructor(cycle: Cycle) {
    this.#cycle = cycle;
  }

  /** Applies the changes since the previous cycle, and drops all patterns that no gang used in it. */
  beginCycle(): void {
    const { counted, restocked } = this.#cycle.fleet.machines;
    this.#earlier = this.#byPattern;
    this.#byPattern = new Map();
    this.#isTentative = false;
    const moved = counted.since(this.#countedSeen);
    const changed = restocked.since(this.#restockedSeen);
    this.#countedSeen = counted.end;
    this.#restockedSeen = restocked.end;
    if (moved === null || changed === null) {
      this.#earlier.clear();
      this.#topologies = [];
      this.#members.fill(0);
    } else {
      for (const c of new Set(moved)) {
        this.#members[c] = 0;
        if (this.#isInUse(c)) this.#eachTopology((t) => t.noteMemberChange(c));
      }
      for (const c of new Set(changed)) if (this.#isTouched[c] !== 1) this.#noteRestocked(c);
      // Claimed machines are free again.
      for (const c of this.#touched) this.#noteRestocked(c);
    }
    for (const c of this.#touched) this.#isTouched[c] = 0;
    this.#touched = [];
  }

  /** Forgets all sums, after a cycle failed at an unknown point. */
  clear(): void {
    this.#restockedSeen = NEVER;
    this.#countedSeen = NEVER;
  }

  /** A removed class is in no list of classes, so no kept entry contains it. */
  #isInUse(classNumber: number): boolean {
    return this.#cycle.fleet.classes.attributes[classNumber] !== undefined;
  }

  #noteRestocked(classNumber: number): void {
    if (this.#isInUse(classNumber))
      this.#eachTopology((t) => t.noteFreeChange(classNumber, FreeChange.Restocked));
  }

  #eachTopology(act: (topology: Topology) => void): void {
    for (const topology of this.#topologies) act(topology);
  }

  /** Machines of a class in a usable state, claimed or not. */
  membersOf(classNumber: number): number {
    const { classes, machines } = this.#cycle.fleet;
    this.#members = withRoom(this.#members, classes.size);
    if (this.#members[classNumber] === 0) {
      let members = 0;
      for (const state of USABLE) members += machines.countOf(classNumber, state);
      this.#members[classNumber] = members + 1;
    }
    return this.#members[classNumber]! - 1;
  }

  /**
   * Machines of a class in a usable state that are not blocked. Not cached: read once for each class and pattern that
   * changed.
   */
  unblockedOf(classNumber: number): number {
    const { machines } = this.#cycle.fleet;
    let unblocked = 0;
    for (const state of USABLE) unblocked += machines.unblockedCountOf(classNumber, state);
    return unblocked;
  }

  /** Machines of a class that are Failed or Deleting. */
  unusableOf(classNumber: number): number {
    const { machines } = this.#cycle.fleet;
    return (
      machines.countOf(classNumber, MachineState.Failed) +
      machines.countOf(classNumber, MachineState.Deleting)
    );
  }

  /** The free machines of a gang's pattern, by domain. */
  of(rankedRow: number): PatternAvailability {
    const { pattern, profile } = this.#cycle.rankedRows;
    return this.for(pattern[rankedRow]!, profile[rankedRow]!, this.#cycle.purchases.areWithheld(rankedRow));
  }

  /** The free machines for gangs with a pattern and a profile. `isOwnedOnly`: without purchases. */
  for(pattern: number, profile: number, isOwnedOnly: boolean): PatternAvailability {
    const key = isOwnedOnly ? ~pattern : pattern;
    let availability = this.#byPattern.get(key);
    if (availability === undefined) {
      availability = this.#open(pattern, profile, isOwnedOnly, this.#earlier.get(key));
      this.#byPattern.set(key, availability);
    }
    return availability;
  }

  /** A free machine of a class was claimed or returned. */
  noteFreeChange(classNumber: number, change: FreeChange): void {
    if (this.#isTentative) return;
    if (classNumber >= this.#isTouched.length)
      this.#isTouched = withRoom(this.#isTouched, this.#cycle.fleet.classes.size);
    if (this.#isTouched[classNumber] === 0) {
      this.#isTouched[classNumber] = 1;
      this.#touched.push(classNumber);
    }
    for (const topology of this.#topologies) topology.noteFreeChange(classNumber, change);
  }

  /** Runs claims of a gang that returns everything it takes and reads no sums. */
  tentatively(act: () => void): void {
    this.#isTentative = true;
    this.#cycle.freeMachines.tentatively(act);
    this.#isTentative = false;
  }

  #open(
    number: number,
    profile: number,
    isOwnedOnly: boolean,
    earlier: PatternAvailability | undefined,
  ): PatternAvailability {
    const { demand, dimensions, domains, patterns } = this.#cycle.fleet;
    const pattern = patterns.patternOf(number);
    if (earlier?.fitting === pattern.fittingClasses() && earlier.dims === dimensions.count) {
      earlier.beginCycle();
      return earlier;
    }
    const byKey = domains.by(demand.profiles.entryOf(profile).sameKey!);
    let topology = this.#topologies.find((known) => known.domains === byKey);
    if (topology === undefined) {
      topology = new Topology(byKey);
      this.#topologies.push(topology);
    }
    const availability = new PatternAvailability(this.#cycle, topology, pattern, isOwnedOnly);
    topology.reserve();
    return availability;
  }
}
