// What the shard says about the machines of this cluster: the latest update of each, and which of them it reported since
// the current session began. A machine goes with the update that says so. After the resync of a session, machines that the
// shard did not report are gone as well.

import { MachineState } from '../../model/index.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { NodeStateUpdate } from '../../wire/gen/bigfleet/v1alpha1/shard.ts';

/** More machines than a cluster may have nodes (5,000 by Kubernetes' own limit), with room for failed ones. */
const MAX_MACHINES = 100_000;

/** Machines that left in this session; a repetition of their last update must not bring them back. */
const MAX_LEFT = 10_000;

/** How long a Failed machine is kept, so that its error can be read. The wire does not say whether it is still bound. */
const FAILED_KEPT_MS = 10 * 60_000;

export interface ResyncSettings {
  /** Shortest time after the first report of a session after which unreported machines are gone. Default 30 s. */
  readonly resyncMs: number;
  /** The resync goes on while updates arrive within this time of each other. Default 5 s. */
  readonly quietMs: number;
}

const DEFAULT_RESYNC: ResyncSettings = { resyncMs: 30_000, quietMs: 5_000 };

/** A resync ends after this time at the latest, however busy the shard is. */
const LONGEST_RESYNC_MS = 5 * 60_000;

/**
 * A shard that starts accepts sessions before its providers have listed their machines, which takes minutes if they are
 * slow. While it has reported none of the machines known before, or lacks one whose Node is Ready, absence says nothing for
 * this time.
 */
const SILENT_RESYNC_MS = 30 * 60_000;

/** A last error of our shard: the provider no longer lists the machine. A Go shard never sends it. */
export const MACHINE_GONE = 'The provider no longer has this machine.';

const { Configuring, Configured, Draining, Failed, Idle, Speculative, Deleting } = MachineState;
const IN_CLUSTER: ReadonlySet<number> = new Set([Configuring, Configured, Draining, Failed]);
const OUTSIDE: ReadonlySet<number> = new Set([Idle, Speculative, Deleting]);

/** `left`: the machine is no longer one of this cluster. `repeated`: it left before. `refused`: cannot be kept. */
type Applied = 'kept' | 'left' | 'repeated' | 'refused';

/** What an earlier process knew of machines. */
export interface KnownMachines {
  readonly isEmpty: boolean;
  wasInCluster(machine: string): boolean;
  /** Machines with a Node that is Ready now. */
  ready(): Iterable<string>;
}

export class Machines {
  readonly #clock: Clock;
  readonly #settings: ResyncSettings;
  readonly #latest = new Map<string, NodeStateUpdate>();
  readonly #failedSinceMs = new Map<string, number>();
  readonly #left = new Set<string>();
  /** Null: no resync is in progress. */
  #reported: Set<string> | null = null;
  #startMs = 0;
  #firstUpdateMs = 0;
  #lastUpdateMs = 0;
  #cancel: (() => void) | null = null;
  readonly #before: KnownMachines;
  readonly #gone: (machine: string) => void;
  readonly #resynced: (reported: ReadonlySet<string>) => void;

  constructor(deps: {
    readonly clock: Clock;
    readonly settings?: ResyncSettings;
    readonly before: KnownMachines;
    /** A machine is no longer one of this cluster, without an update that said so. */
    readonly gone: (machine: string) => void;
    /** The resync after a hello is complete; with all machines that were reported in it. */
    readonly resynced: (reported: ReadonlySet<string>) => void;
  }) {
    this.#clock = deps.clock;
    this.#settings = deps.settings ?? DEFAULT_RESYNC;
    this.#before = deps.before;
    this.#gone = deps.gone;
    this.#resynced = deps.resynced;
  }

  get size(): number {
    return this.#latest.size;
  }

  get(machine: string): NodeStateUpdate | undefined {
    return this.#latest.get(machine);
  }

  /** The state that the shard has reported in this session; undefined if it has not, or the machine is gone. */
  currentState(machine: string): NodeStateUpdate['state'] | undefined {
    if (this.#reported?.has(machine) === false) return undefined;
    return this.#latest.get(machine)?.state;
  }

  apply(update: NodeStateUpdate): Applied {
    const { machineId: machine, state } = update;
    if (machine === '') return 'refused';
    const now = this.#clock.now();
    this.#lastUpdateMs = now;
    if (this.#reported?.size === 0) this.#firstUpdateMs = now;
    this.#reported?.add(machine);
    const isOver = OUTSIDE.has(state) || state === Failed;
    if (isOver && this.#left.has(machine)) return 'repeated';
    if (this.#isFarewell(update)) {
      this.#leave(machine);
      return 'left';
    }
    if (this.#latest.size >= MAX_MACHINES && !this.#latest.has(machine)) return 'refused';
    this.#latest.set(machine, update);
    this.#left.delete(machine);
    if (state !== Failed) this.#failedSinceMs.delete(machine);
    else if (!this.#failedSinceMs.has(machine)) this.#failedSinceMs.set(machine, now);
    return 'kept';
  }

  /** Drops machines that have been Failed for long. Called once a minute or so. */
  sweep(): void {
    const now = this.#clock.now();
    for (const [machine, sinceMs] of [...this.#failedSinceMs]) {
      if (now - sinceMs < FAILED_KEPT_MS) continue;
      this.#leave(machine);
      this.#gone(machine);
    }
  }

  connected(): void {
    this.#cancel?.();
    this.#reported = new Set();
    // What the shard reports after a hello is bound to the cluster.
    this.#left.clear();
    this.#startMs = this.#clock.now();
    this.#wait(this.#settings.resyncMs);
  }

  disconnected(): void {
    this.#cancel?.();
    this.#cancel = null;
  }

  #isFarewell({ machineId: machine, state, lastError }: NodeStateUpdate): boolean {
    if (state === Failed) return lastError === MACHINE_GONE;
    if (!OUTSIDE.has(state)) return false;
    const known = this.#latest.get(machine);
    if (known === undefined) return this.#before.wasInCluster(machine);
    // Idle comes after Creating as well, on the way to the cluster.
    return IN_CLUSTER.has(known.state) || (state !== Idle && state !== known.state);
  }

  #leave(machine: string): void {
    this.#latest.delete(machine);
    this.#failedSinceMs.delete(machine);
    this.#left.add(machine);
    if (this.#left.size > MAX_LEFT) this.#left.delete(this.#left.values().next().value!);
  }

  #wait(ms: number): void {
    this.#cancel = this.#clock.after(ms, () => {
      const leftMs = this.#resyncLeftMs();
      if (leftMs > 0) this.#wait(leftMs);
      else this.#finish();
    });
  }

  #resyncLeftMs(): number {
    const now = this.#clock.now();
    const { resyncMs, quietMs } = this.#settings;
    const isReadyMissing = this.#isReadyMissing();
    if (this.#reported!.size > 0 && !isReadyMissing) {
      const settledMs = Math.max(this.#firstUpdateMs + resyncMs, this.#lastUpdateMs + quietMs);
      return Math.min(settledMs, this.#firstUpdateMs + LONGEST_RESYNC_MS) - now;
    }
    // The machines of a slow provider get the time that those of the first one had.
    this.#firstUpdateMs = now;
    const isMissing = isReadyMissing || this.#latest.size > 0 || !this.#before.isEmpty;
    const waitMs = isMissing ? Math.max(SILENT_RESYNC_MS, resyncMs) : resyncMs;
    return Math.min(resyncMs, this.#startMs + waitMs - now);
  }

  /** Whether a machine known before has not been reported although it runs: its provider may not have listed it yet. */
  #isReadyMissing(): boolean {
    for (const machine of this.#before.ready()) {
      if (this.#reported!.has(machine)) continue;
      if (this.#latest.has(machine) || this.#before.wasInCluster(machine)) return true;
    }
    return false;
  }

  #finish(): void {
    const reported = this.#reported!;
    this.#reported = null;
    this.#cancel = null;
    for (const machine of [...this.#latest.keys()]) {
      if (reported.has(machine)) continue;
      this.#latest.delete(machine);
      this.#failedSinceMs.delete(machine);
      this.#gone(machine);
    }
    this.#resynced(reported);
  }
}
