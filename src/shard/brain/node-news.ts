// Tells a cluster about the machines that are or were its own: every move, the last one included, and everything again
// when its operator comes back.

import type { Standing } from '../../fleet/index.ts';
import {
  effectiveAllocatable,
  isBound,
  type Machine,
  MachineState,
  NO_RESOURCES,
} from '../../model/index.ts';
import type { Effect, NodeStateEffect } from '../events.ts';
import type { Book } from './book.ts';

export class NodeNews {
  readonly #book: Book;
  readonly #emit: (effect: Effect) => void;
  /** By cluster: machines that leave it. The ledger keeps runs of bound machines only. */
  readonly #leaving = new Map<string, Set<string>>();

  constructor(book: Book, emit: (effect: Effect) => void) {
    this.#book = book;
    this.#emit = emit;
    book.listen((id, before, after, seen) => this.#moved(id, before, after, seen));
  }

  /** Tells a cluster how all of its machines stand. */
  tellAll(cluster: string): void {
    const { machines, clusters } = this.#book.fleet;
    const runs = machines.boundOf(clusters.find(cluster));
    const ids = new Set(this.#leaving.get(cluster));
    for (const run of runs === undefined ? [] : [runs.configured, runs.configuring]) {
      for (let i = run.offset; i < run.offset + run.length; i++)
        ids.add(machines.idOf(machines.arena.data[i]!));
    }
    for (const id of ids) {
      const standing = this.#book.standing(id);
      if (standing?.cluster === cluster) this.#tell(cluster, id, standing.state, null);
    }
  }

  #moved(id: string, before: Standing | null, after: Standing | null, seen: Machine | null): void {
    const was = before?.cluster ?? '';
    const is = after?.cluster ?? '';
    if (before?.state === MachineState.Draining) this.#leaving.get(was)?.delete(id);
    if (after?.state === MachineState.Draining) this.#leave(is, id);
    if (was === is && before?.state === after?.state) return;
    if (was !== '' && was !== is) this.#tell(was, id, stateFor(after), seen);
    if (is !== '') this.#tell(is, id, after!.state, seen);
  }

  #leave(cluster: string, id: string): void {
    const leaving = this.#leaving.get(cluster);
    if (leaving === undefined) this.#leaving.set(cluster, new Set([id]));
    else leaving.add(id);
  }

  #tell(cluster: string, machine: string, state: MachineState | null, seen: Machine | null): void {
    const { host, lastError } = this.#book.particularsOf(machine);
    const facts = seen ?? this.#book.recordOf(machine);
    const effect: NodeStateEffect = {
      kind: 'node-state',
      cluster,
      machine,
      state,
      host,
      lastError,
      instanceType: facts?.instanceType ?? '',
      zone: facts?.zone ?? '',
      labels: facts?.labels ?? new Map(),
      allocatable: facts === null ? NO_RESOURCES : effectiveAllocatable(facts),
    };
    this.#emit(effect);
  }
}

/** What a cluster hears of a machine that is no longer its own: bound elsewhere means gone for it. */
function stateFor(after: Standing | null): MachineState | null {
  return after === null || isBound(after.state) ? null : after.state;
}
