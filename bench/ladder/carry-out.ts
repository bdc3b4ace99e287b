// Executes a plan between two cycles of a rung (rung.ts), as a shard and its providers would: yields the changes that
// result from it. Every transition completes at once, so that the benchmark measures decisions and not waiting.

import type { Decision } from '../../src/engine/index.ts';
import type { Fleet, PendingChange } from '../../src/fleet/index.ts';
import {
  type Action,
  Command,
  dollarsOfBucket,
  type Machine,
  MachineState,
  type NeedKey,
  type Profile,
  type Stamp,
} from '../../src/model/index.ts';
import { hostOf } from '../../testing/workload/workload-machines.ts';

const { Configured, Idle, Speculative } = MachineState;

/** The status of a machine at the end of a transition. */
type End = Pick<Machine, 'state' | 'cluster' | 'stamp'>;

const FREE: End = { state: Idle, cluster: '', stamp: null };
const RELEASED: End = { state: Speculative, cluster: '', stamp: null };

export class CarryOut {
  readonly #fleet: Fleet;
  /** Profiles of rows and folds by fingerprint, as far as they were asked for. */
  readonly #profiles = new Map<string, Profile>();

  constructor(fleet: Fleet) {
    this.#fleet = fleet;
  }

  /** The effects of all actions. The decision must still be valid. */
  *changesOf(decision: Decision, atMs: number): Generator<PendingChange> {
    for (const [id, key] of decision.restamps()) {
      const { interruptionPenaltyDollars, reclamationPenaltyDollars } = this.#stampFor(key);
      const { priority } = this.#profileOf(key);
      const penalties = { interruptionPenaltyDollars, reclamationPenaltyDollars };
      yield { kind: 'restamp', id, key, priority, ...penalties };
    }
    for (const action of decision.eachAction()) yield* this.#carryOut(action, atMs);
  }

  *#carryOut({ kind, machine: id, cluster, need }: Action, atMs: number): Generator<PendingChange> {
    switch (kind) {
      case 'Bootstrap':
      case 'Provision':
        yield this.#end(id, { state: Configured, cluster, stamp: this.#stampFor(need!) }, atMs);
        break;
      case 'Preempt':
      case 'Reclaim':
        // A machine that becomes Idle without a drain would count as lost, and its target would be cleared.
        yield { kind: 'command', command: Command.Drain, target: need, id, atMs };
        yield this.#end(id, FREE, atMs);
        break;
      case 'Delete':
        yield this.#end(id, RELEASED, atMs);
        break;
    }
  }

  /** The provider's record of the machine at the end of its transition. */
  #end(id: string, end: End, atMs: number): PendingChange {
    const { machines } = this.#fleet;
    const record = machines.recordAt(machines.slotOf(id)!);
    const machine = { ...record, host: hostOf(id, end.state), lastError: '', ...end };
    return { kind: 'observe', machine, atMs };
  }

  #stampFor(key: NeedKey): Stamp {
    const { priority, interruptionBucket, reclamationBucket } = this.#profileOf(key);
    return {
      priority,
      interruptionPenaltyDollars: dollarsOfBucket(interruptionBucket),
      reclamationPenaltyDollars: dollarsOfBucket(reclamationBucket),
      fingerprint: key.fingerprint,
      group: key.group,
    };
  }

  #profileOf({ fingerprint }: NeedKey): Profile {
    if (!this.#profiles.has(fingerprint)) this.#learnProfiles();
    return this.#profiles.get(fingerprint)!;
  }

  #learnProfiles(): void {
    for (const entry of this.#fleet.demand.profiles.entries) {
      if (entry === undefined) continue;
      for (const profile of [entry.profile, entry.stripped]) this.#profiles.set(profile.fingerprint, profile);
    }
  }
}
