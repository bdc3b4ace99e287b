// The shard's verdicts on the rows of this cluster: a full set after each hello, then those that changed. Remembers since
// when each row is met with all its machines Configured, borrowed ones included, which is what episodes wait for.

import type { Clock } from '../../runtime/clock.ts';
import type { NeedVerdicts, NeedVerdicts_Verdict } from '../../wire/gen/bigfleet/v1alpha1/shard.ts';
import type { RowKey } from '../demand/contract.ts';

/** More rows than a roll-up of any known cluster has. Verdicts beyond are ignored. */
const MAX_VERDICTS = 100_000;

export interface TrackedVerdict {
  readonly verdict: NeedVerdicts_Verdict;
  /** Since when the row is met and all its machines are Configured; null if it is not. */
  readonly metSinceMs: number | null;
}

export class VerdictTable {
  readonly #clock: Clock;
  #current = new Map<string, TrackedVerdict>();
  /** The set before the last full one, while that is still arriving. */
  #previous: ReadonlyMap<string, TrackedVerdict> = new Map();
  #byFingerprint = new Map<string, number>();
  #fullCycle: bigint | null = null;
  #isLive = false;
  #version = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Whether the verdicts are those of the current session. */
  get isLive(): boolean {
    return this.#isLive;
  }

  /** Changes with every frame that changes a verdict. */
  get version(): number {
    return this.#version;
  }

  get size(): number {
    return this.#current.size;
  }

  get(row: RowKey): TrackedVerdict | undefined {
    return this.#current.get(keyOf(row.fingerprint, row.group));
  }

  all(): Iterable<TrackedVerdict> {
    return this.#current.values();
  }

  /** Whether some row has this profile; null while the shard sends no verdicts. */
  hasProfile(fingerprint: string): boolean | null {
    return this.#isLive ? (this.#byFingerprint.get(fingerprint) ?? 0) > 0 : null;
  }

  apply({ cycle, full, verdicts }: NeedVerdicts): void {
    if (full) {
      this.#previous = this.#current;
      this.#current = new Map();
      this.#byFingerprint = new Map();
      this.#fullCycle = cycle;
      this.#isLive = true;
    } else if (cycle !== this.#fullCycle) this.#previous = new Map();
    for (const verdict of verdicts) this.#set(verdict);
    this.#version++;
  }

  /** The verdicts stay for people to read; they no longer count as current. */
  disconnected(): void {
    this.#isLive = false;
    this.#version++;
  }

  #set(verdict: NeedVerdicts_Verdict): void {
    const { profileFingerprint: fingerprint, group } = verdict;
    const key = keyOf(fingerprint, group);
    const old = this.#current.get(key);
    if (verdict.removed) {
      if (old !== undefined) this.#count(fingerprint, -1);
      this.#current.delete(key);
      return;
    }
    if (old === undefined && this.#current.size >= MAX_VERDICTS) return;
    if (old === undefined) this.#count(fingerprint, 1);
    const isMet = verdict.satisfied && verdict.notConfigured === 0;
    const since = (old ?? this.#previous.get(key))?.metSinceMs ?? null;
    this.#current.set(key, { verdict, metSinceMs: isMet ? (since ?? this.#clock.now()) : null });
  }

  #count(fingerprint: string, by: number): void {
    const count = (this.#byFingerprint.get(fingerprint) ?? 0) + by;
    if (count > 0) this.#byFingerprint.set(fingerprint, count);
    else this.#byFingerprint.delete(fingerprint);
  }
}

function keyOf(fingerprint: string, group: string): string {
  return `${fingerprint}\n${group}`;
}
