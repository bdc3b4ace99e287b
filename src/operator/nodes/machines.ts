// What the shard says about the machines of this cluster: the latest update of each, and which of them it reported since
// the current session began. After the resync of a session, machines that it did not report are gone.

import type { Clock } from '../../runtime/clock.ts';
import type { NodeStateUpdate } from '../../wire/gen/bigfleet/v1alpha1/shard.ts';

/** More machines than a cluster may have nodes (5,000 by Kubernetes' own limit), with room for failed ones. */
const MAX_MACHINES = 100_000;

export interface ResyncSettings {
  /** Shortest time after a hello after which unreported machines are gone. Default 30 s. */
  readonly resyncMs: number;
  /** The resync goes on while updates arrive within this time of each other. Default 5 s. */
  readonly quietMs: number;
}

const DEFAULT_RESYNC: ResyncSettings = { resyncMs: 30_000, quietMs: 5_000 };

/** A resync ends after this time at the latest, however busy the shard is. */
const LONGEST_RESYNC_MS = 5 * 60_000;

export class Machines {
  readonly #clock: Clock;
  readonly #settings: ResyncSettings;
  readonly #latest = new Map<string, NodeStateUpdate>();
  /** Null: no resync is in progress. */
  #reported: Set<string> | null = null;
  #lastUpdateMs = 0;
  #cancel: (() => void) | null = null;
  readonly #gone: (machine: string) => void;
  readonly #resynced: () => void;

  constructor(deps: {
    readonly clock: Clock;
    readonly settings?: ResyncSettings;
    /** A machine is no longer one of this cluster. */
    readonly gone: (machine: string) => void;
    /** The resync after a hello is complete. */
    readonly resynced: () => void;
  }) {
    this.#clock = deps.clock;
    this.#settings = deps.settings ?? DEFAULT_RESYNC;
    this.#gone = deps.gone;
    this.#resynced = deps.resynced;
  }

  /** Whether the shard has reported all its machines since the session began. */
  get isResynced(): boolean {
    return this.#reported === null;
  }

  get(machine: string): NodeStateUpdate | undefined {
    return this.#latest.get(machine);
  }

  /** The state that the shard has reported in this session; undefined if it has not, or the machine is gone. */
  currentState(machine: string): NodeStateUpdate['state'] | undefined {
    if (this.#reported?.has(machine) === false) return undefined;
    return this.#latest.get(machine)?.state;
  }

  all(): Iterable<NodeStateUpdate> {
    return this.#latest.values();
  }

  /** Returns false if the update cannot be kept. */
  apply(update: NodeStateUpdate): boolean {
    if (update.machineId === '') return false;
    if (this.#latest.size >= MAX_MACHINES && !this.#latest.has(update.machineId)) return false;
    this.#latest.set(update.machineId, update);
    this.#reported?.add(update.machineId);
    this.#lastUpdateMs = this.#clock.now();
    return true;
  }

  drop(machine: string): void {
    this.#latest.delete(machine);
  }

  connected(): void {
    this.#cancel?.();
    this.#reported = new Set();
    const startMs = this.#clock.now();
    this.#lastUpdateMs = startMs;
    this.#wait(startMs, this.#settings.resyncMs);
  }

  disconnected(): void {
    this.#cancel?.();
    this.#cancel = null;
  }

  #wait(startMs: number, ms: number): void {
    this.#cancel = this.#clock.after(ms, () => {
      const now = this.#clock.now();
      const quietForMs = now - this.#lastUpdateMs;
      if (quietForMs < this.#settings.quietMs && now - startMs < LONGEST_RESYNC_MS)
        this.#wait(startMs, this.#settings.quietMs - quietForMs);
      else this.#finish();
    });
  }

  #finish(): void {
    const reported = this.#reported!;
    this.#reported = null;
    this.#cancel = null;
    for (const machine of [...this.#latest.keys()]) {
      if (reported.has(machine)) continue;
      this.#latest.delete(machine);
      this.#gone(machine);
    }
    this.#resynced();
  }
}
