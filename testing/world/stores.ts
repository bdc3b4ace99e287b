// The files of a shard with crash semantics: a write that has returned is durable, an in-flight write may be lost, and
// a dead process writes nothing. Used by shard-process.ts; world.ts owns the `Disk`, which outlives its processes.

import type { Clock } from '../../src/runtime/clock.ts';
import type { Random } from '../../src/runtime/random.ts';
import type { DrainReporterStore } from '../../src/shard/actuation/drain-reporters.ts';
import {
  type ControllerStore,
  type DemandChanges,
  type DemandStore,
  type FreezeStore,
  type MachineStore,
  MemoryControllerStore,
  MemoryDemandStore,
} from '../../src/shard/index.ts';
import type { RetirementStore } from '../../src/shard/planning/retirements.ts';

/** State that outlives every process. */
export class Disk {
  readonly controller = new MemoryControllerStore();
  readonly demand = new MemoryDemandStore();
}

export interface StoreParts {
  readonly disk: Disk;
  readonly clock: Clock;
  readonly random: Random;
  readonly isAlive: () => boolean;
}

/** The controller's file. It can kill its process during a write. */
export class CrashingStore implements ControllerStore {
  readonly machines: MachineStore;
  readonly freezes: FreezeStore;
  readonly retirements: RetirementStore;
  readonly drainReporters: DrainReporterStore;
  #writesLeft = 0;
  #isWritten = false;
  #kill: () => void = () => {};

  constructor({ disk, isAlive }: StoreParts) {
    const { machines, freezes, retirements, drainReporters } = disk.controller;
    const write = (run: () => void): void => {
      if (!isAlive()) return;
      const isLast = this.#writesLeft > 0 && --this.#writesLeft === 0;
      if (!isLast || this.#isWritten) run();
      if (isLast) this.#kill();
    };
    this.machines = {
      load: () => machines.load(),
      save: (changed, dropped) => write(() => machines.save(changed, dropped)),
    };
    this.freezes = {
      freezes: () => freezes.freezes(),
      putFreeze: (freeze) => write(() => freezes.putFreeze(freeze)),
      deleteFreezes: (ids) => write(() => freezes.deleteFreezes(ids)),
    };
    this.retirements = {
      retirements: () => retirements.retirements(),
      putRetirement: (retirement) => write(() => retirements.putRetirement(retirement)),
      deleteRetirement: (cluster) => write(() => retirements.deleteRetirement(cluster)),
    };
    this.drainReporters = {
      drainReporters: () => drainReporters.drainReporters(),
      saveDrainReporters: (added, dropped) => write(() => drainReporters.saveDrainReporters(added, dropped)),
    };
  }

  /** Kills the process at its n-th write from now on; `isWritten` says whether that write is durable. */
  crashAt(write: number, isWritten: boolean, kill: () => void): void {
    this.#writesLeft = write;
    this.#isWritten = isWritten;
    this.#kill = kill;
  }
}

const SLOWEST_WRITE_MS = 20;

/** The sessions' file: writes have latency, and those in flight at the death of the process may be lost. */
export class SlowStore implements DemandStore {
  readonly #parts: StoreParts;
  #last: Promise<void> = Promise.resolve();

  constructor(parts: StoreParts) {
    this.#parts = parts;
  }

  load(): ReturnType<DemandStore['load']> {
    return this.#parts.disk.demand.load();
  }

  write(changes: DemandChanges): Promise<void> {
    const { clock, random, disk, isAlive } = this.#parts;
    const before = this.#last;
    this.#last = (async () => {
      await before;
      await new Promise<void>((resolve) => clock.after(random.below(SLOWEST_WRITE_MS), resolve));
      // A dead process never learns the outcome; only its successor sees whether the write happened.
      if (isAlive() || random.chance(0.5)) await disk.demand.write(changes);
    })();
    return this.#last;
  }
}
