// Machines that the engine must leave alone, and until when: one by one after a failure or by somebody's word, by
// offering after a stock-out, by provider while nobody answers or nothing is permitted there. The ledger knows one bit, the reasons stand here.

import {
  type BlockedCause,
  type CapacityType,
  type Clock,
  MachineState,
  type Random,
} from '../../../model/index.ts';
import { type BackoffLimits, waitMs } from '../backoff.ts';
import type { Book } from '../book.ts';

/** Why a machine is left alone. */
export interface Hold {
  /** `call-lost`: a call was lost and its outcome is unknown; ends when a provider lists the machine. */
  readonly kind: Exclude<BlockedCause, 'frozen' | 'awaiting-report' | 'released'>;
  readonly why: string;
  /** null: until somebody says so, or the provider does. */
  readonly untilMs: number | null;
}

export interface HeldMachine extends Hold {
  readonly machine: string;
  readonly kind: 'backing-off' | 'quarantined' | 'call-lost';
}

/** What is sold out together. */
export interface OfferingKey {
  readonly provider: string;
  readonly instanceType: string;
  readonly zone: string;
  readonly capacityType: CapacityType;
}

export interface HeldOffering extends OfferingKey {
  readonly kind: 'out-of-stock';
  readonly why: string;
  readonly untilMs: number;
}

export interface HoldsParts {
  readonly book: Book;
  readonly clock: Clock;
  readonly random: Random;
  readonly machine: BackoffLimits;
  readonly offering: BackoffLimits;
}

const SPECULATIVE: ReadonlySet<MachineState> = new Set([MachineState.Speculative]);
const FREE: ReadonlySet<MachineState> = new Set([MachineState.Speculative, MachineState.Idle]);

interface Offering {
  readonly held: HeldOffering | null;
  readonly failures: number;
}

export class Holds {
  readonly #parts: HoldsParts;
  readonly #machines = new Map<string, HeldMachine>();
  /** Failures in a row, of machines that failed and have not succeeded since. */
  readonly #failures = new Map<string, number>();
  readonly #offerings = new Map<string, Offering>();
  readonly #providers = new Map<string, Hold>();

  constructor(parts: HoldsParts) {
    this.#parts = parts;
  }

  get machines(): Iterable<HeldMachine> {
    return this.#machines.values();
  }

  get offerings(): readonly HeldOffering[] {
    return [...this.#offerings.values()].flatMap(({ held }) => held ?? []);
  }

  /** What keeps a machine out of decisions; null if nothing does. What it is held for itself goes first. */
  of(id: string): Hold | null {
    return this.#machines.get(id) ?? this.#withOthers(id);
  }

  /** Whether the machine must not be acquired now; if so, the ledger is told as well. */
  check(id: string): boolean {
    const isHeld = this.#isHeld(id);
    if (isHeld) this.#parts.book.hold(id, true);
    return isHeld;
  }

  backOff(id: string, why: string): void {
    if (this.#machines.get(id)?.kind === 'quarantined') return;
    const { clock, random, machine } = this.#parts;
    const failures = (this.#failures.get(id) ?? 0) + 1;
    this.#failures.set(id, failures);
    const wait = waitMs(random, machine, failures);
    const held: HeldMachine = { machine: id, kind: 'backing-off', why, untilMs: clock.now() + wait };
    this.#hold(held);
    clock.after(wait, () => {
      if (this.#machines.get(id) === held) this.release(id);
    });
  }

  quarantine(id: string, why: string): void {
    this.#hold({ machine: id, kind: 'quarantined', why, untilMs: null });
  }

  /** Nobody knows what became of a call. */
  lostSight(id: string, why: string): void {
    if (this.#machines.has(id)) return;
    this.#hold({ machine: id, kind: 'call-lost', why, untilMs: null });
  }

  isLost(id: string): boolean {
    return this.#machines.get(id)?.kind === 'call-lost';
  }

  /** A provider's record of the machine was taken. */
  seen(id: string): void {
    if (this.#machines.get(id)?.kind === 'call-lost') this.#machines.delete(id);
    // It may have left the state that it was held for.
    if (this.#parts.book.standing(id)?.held === true && !this.#isHeld(id)) this.#parts.book.hold(id, false);
  }

  /** An action on the machine went well. */
  succeeded(id: string): void {
    this.#failures.delete(id);
  }

  /** A machine was bought: there are others like it. */
  inStock(id: string): void {
    if (this.#offerings.size === 0) return;
    const offering = this.#offeringOf(id);
    if (offering !== null) this.#endOffering(offering);
  }

  release(id: string): void {
    this.#machines.delete(id);
    if (!this.#isHeld(id)) this.#parts.book.hold(id, false);
  }

  /** The machine is gone, and with it everything about it. */
  forget(id: string): void {
    this.#machines.delete(id);
    this.#failures.delete(id);
  }

  /** Whether what the machine is one of is sold out. */
  isSoldOut(id: string): boolean {
    return this.#soldOutWith(id) !== null;
  }

  /** What the machine is one of is sold out, for the others as well. */
  soldOut(id: string, why: string): void {
    const key = this.#offeringOf(id);
    if (key === null) return;
    const text = textOf(key);
    const known = this.#offerings.get(text);
    // A burst that fails together is one failure.
    if (known?.held) return;
    const { clock, random, offering } = this.#parts;
    const failures = (known?.failures ?? 0) + 1;
    const wait = waitMs(random, offering, failures);
    const held: HeldOffering = { ...key, kind: 'out-of-stock', why, untilMs: clock.now() + wait };
    this.#offerings.set(text, { held, failures });
    clock.after(wait, () => {
      const current = this.#offerings.get(text);
      if (current?.held !== held) return;
      this.#offerings.set(text, { held: null, failures });
      this.#releaseAll(this.#speculativeOf(key));
    });
    for (const other of this.#speculativeOf(key)) this.#parts.book.hold(other, true);
  }

  /** Nothing more is to be acquired at a provider. */
  holdProvider(provider: string, kind: 'provider-unreachable' | 'provider-denies', why: string): void {
    const isKnown = this.#providers.has(provider);
    this.#providers.set(provider, { kind, why, untilMs: null });
    if (isKnown) return;
    for (const id of this.#freeOf(provider)) this.#parts.book.hold(id, true);
  }

  releaseProvider(provider: string): void {
    if (this.#providers.delete(provider)) this.#releaseAll(this.#freeOf(provider));
  }

  #endOffering(key: OfferingKey): void {
    const text = textOf(key);
    const known = this.#offerings.get(text);
    this.#offerings.delete(text);
    if (known?.held) this.#releaseAll(this.#speculativeOf(key));
  }

  #hold(held: HeldMachine): void {
    this.#machines.set(held.machine, held);
    this.#parts.book.hold(held.machine, true);
  }

  #releaseAll(ids: readonly string[]): void {
    for (const id of ids) if (!this.#isHeld(id)) this.#parts.book.hold(id, false);
  }

  #isHeld(id: string): boolean {
    return this.of(id) !== null;
  }

  /** What keeps a machine out along with others. */
  #withOthers(id: string): Hold | null {
    if (this.#offerings.size === 0 && this.#providers.size === 0) return null;
    const { book } = this.#parts;
    const state = book.standing(id)?.state;
    // What is bound can leave whenever its provider answers again; only acquiring is pointless now.
    if (state !== MachineState.Speculative && state !== MachineState.Idle) return null;
    const provider = book.ownerOf(id);
    const held = provider === undefined ? undefined : this.#providers.get(provider);
    if (held !== undefined) return held;
    return state === MachineState.Speculative ? this.#soldOutWith(id) : null;
  }

  #soldOutWith(id: string): HeldOffering | null {
    const offering = this.#offeringOf(id);
    return offering === null ? null : (this.#offerings.get(textOf(offering))?.held ?? null);
  }

  #offeringOf(id: string): OfferingKey | null {
    const { book } = this.#parts;
    const record = book.recordOf(id);
    const provider = book.ownerOf(id);
    if (record === null || provider === undefined) return null;
    const { instanceType, zone, capacityType } = record;
    return { provider, instanceType, zone, capacityType };
  }

  #speculativeOf(key: OfferingKey): readonly string[] {
    const text = textOf(key);
    const ids = [...this.#parts.book.idsIn(key.provider, SPECULATIVE)];
    return ids.filter((id) => {
      const offering = this.#offeringOf(id);
      return offering !== null && textOf(offering) === text;
    });
  }

  /** Machines of a provider that could be acquired but for holds. */
  #freeOf(provider: string): readonly string[] {
    return [...this.#parts.book.idsIn(provider, FREE)];
  }
}

function textOf({ provider, instanceType, zone, capacityType }: OfferingKey): string {
  return JSON.stringify([provider, instanceType, zone, capacityType]);
}
