// In-memory store of the decision thread, for tests and for simulations (testing/world).

import type { DrainReporterStore } from '../actuation/drain-reporters.ts';
import type { MachineFacts, MachineStore } from '../inventory/machine-facts-store.ts';
import type { Freeze, FreezeStore } from '../planning/freezes.ts';
import type { ControllerStore } from '../planning/options.ts';
import type { Retirement, RetirementStore } from '../planning/retirements.ts';

export class MemoryControllerStore implements ControllerStore {
  readonly machines = new MemoryMachines();
  readonly freezes = new MemoryFreezes();
  readonly retirements = new MemoryRetirements();
  readonly drainReporters = new MemoryDrainReporters();
}

export class MemoryDrainReporters implements DrainReporterStore {
  readonly #clusters = new Set<string>();

  drainReporters(): Iterable<string> {
    return [...this.#clusters];
  }

  saveDrainReporters(added: readonly string[], dropped: readonly string[]): void {
    for (const cluster of added) this.#clusters.add(cluster);
    for (const cluster of dropped) this.#clusters.delete(cluster);
  }
}

class MemoryRetirements implements RetirementStore {
  readonly #retirements = new Map<string, Retirement>();

  retirements(): Iterable<Retirement> {
    return [...this.#retirements.values()];
  }

  putRetirement(retirement: Retirement): void {
    this.#retirements.set(retirement.cluster, retirement);
  }

  deleteRetirement(cluster: string): void {
    this.#retirements.delete(cluster);
  }
}

export class MemoryMachines implements MachineStore {
  readonly facts = new Map<string, MachineFacts>();

  load(): Iterable<MachineFacts> {
    return [...this.facts.values()];
  }

  save(changed: readonly MachineFacts[], dropped: readonly string[]): void {
    for (const facts of changed) this.facts.set(facts.id, facts);
    for (const id of dropped) this.facts.delete(id);
  }
}

export class MemoryFreezes implements FreezeStore {
  readonly #freezes = new Map<string, Freeze>();

  freezes(): Iterable<Freeze> {
    return [...this.#freezes.values()];
  }

  putFreeze(freeze: Freeze): void {
    this.#freezes.set(freeze.id, freeze);
  }

  deleteFreezes(ids: readonly string[]): void {
    for (const id of ids) this.#freezes.delete(id);
  }
}
