// Blocked machines, each with its reason and expiry: a single machine after a failure or by quarantine, an offering
// after a stock-out, a provider while it does not answer or denies mutations. The ledger has one bit per machine, which
// planning/ also sets (frozen-machines.ts, awaited-machines.ts); the reasons are kept here, in memory. Part of
// actuation.ts, which with action-executor.ts reports failures and answers to it.

import { type BlockedCause, type CapacityType, MachineState } from '../../model/index.ts';
import { type BackoffLimits, backoffMs } from '../../runtime/backoff.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import type { MachineLedger } from '../inventory/machine-ledger.ts';

/** Why a machine is blocked. */
export interface Block {
  /** `call-lost`: a call was lost and its outcome is unknown; ends when a provider lists the machine. */
  readonly kind: Exclude<BlockedCause, 'frozen' | 'awaiting-report' | 'released'>;
  readonly why: string;
  /** null: no expiry; ends by a person's order or by the provider's answer. */
  readonly untilMs: number | null;
}

export interface BlockedMachine extends Block {
  readonly machine: string;
  readonly kind: 'backing-off' | 'quarantined' | 'call-lost';
}

/** The unit of a stock-out. */
export interface OfferingKey {
  readonly provider: string;
  readonly instanceType: string;
  readonly zone: string;
  readonly capacityType: CapacityType;
}

export interface BlockedOffering extends OfferingKey {
  readonly kind: 'out-of-stock';
  readonly why: string;
  readonly untilMs: number;
}

export interface BlockedMachinesParts {
  readonly ledger: MachineLedger;
  readonly clock: Clock;
  readonly random: Random;
  readonly machineBackoff: BackoffLimits;
  readonly offeringBackoff: BackoffLimits;
}

const SPECULATIVE: ReadonlySet<MachineState> = new Set([MachineState.Speculative]);
const FREE: ReadonlySet<MachineState> = new Set([MachineState.Speculative, MachineState.Idle]);

interface Offering {
  readonly blocked: BlockedOffering | null;
  readonly failures: number;
}

export class BlockedMachines {
  readonly #parts: BlockedMachinesParts;
  readonly #machines = new Map<string, BlockedMachine>();
  /** Consecutive failures by machine; a success deletes the entry. */
  readonly #failures = new Map<string, number>();
  readonly #offerings = new Map<string, Offering>();
  readonly #providers = new Map<string, Block>();

  constructor(parts: BlockedMachinesParts) {
    this.#parts = parts;
  }

  get machines(): Iterable<BlockedMachine> {
    return this.#machines.values();
  }

  get offerings(): readonly BlockedOffering[] {
    return [...this.#offerings.values()].flatMap(({ blocked }) => blocked ?? []);
  }

  /**
   * Why a machine is blocked; null if it is not. Its own block takes precedence over those of its provider and its
   * offering.
   */
  of(id: string): Block | null {
    return this.#machines.get(id) ?? this.#sharedBlockOf(id);
  }

  /** Whether the machine is blocked; if so, also sets the bit in the ledger. */
  check(id: string): boolean {
    const isBlocked = this.#isBlocked(id);
    if (isBlocked) this.#parts.ledger.setBlocked(id, true);
    return isBlocked;
  }

  backOff(id: string, why: string): void {
    if (this.#machines.get(id)?.kind === 'quarantined') return;
    const { clock, random, machineBackoff } = this.#parts;
    const failures = (this.#failures.get(id) ?? 0) + 1;
    this.#failures.set(id, failures);
    const wait = backoffMs(random, machineBackoff, failures);
    const blocked: BlockedMachine = { machine: id, kind: 'backing-off', why, untilMs: clock.now() + wait };
    this.#block(blocked);
    clock.after(wait, () => {
      if (this.#machines.get(id) === blocked) this.unblock(id);
    });
  }

  quarantine(id: string, why: string): void {
    this.#block({ machine: id, kind: 'quarantined', why, untilMs: null });
  }

  /** Blocks a machine after a call whose outcome could not be read; an existing block is kept. */
  callLost(id: string, why: string): void {
    if (this.#machines.has(id)) return;
    this.#block({ machine: id, kind: 'call-lost', why, untilMs: null });
  }

  isCallLost(id: string): boolean {
    return this.#machines.get(id)?.kind === 'call-lost';
  }

  /** Called after a provider's record of the machine was applied to the ledger. */
  seen(id: string): void {
    if (this.#machines.get(id)?.kind === 'call-lost') this.#machines.delete(id);
    // Offerings and providers block only Speculative and Idle machines, and the record may have changed the state.
    if (this.#parts.ledger.statusOf(id)?.blocked === true && !this.#isBlocked(id))
      this.#parts.ledger.setBlocked(id, false);
  }

  /** Resets the failure count of the machine after a successful action. */
  succeeded(id: string): void {
    this.#failures.delete(id);
  }

  /** A purchase succeeded, so the machine's offering is in stock again. */
  inStock(id: string): void {
    if (this.#offerings.size === 0) return;
    const offering = this.#offeringOf(id);
    if (offering !== null) this.#endOffering(offering);
  }

  unblock(id: string): void {
    this.#machines.delete(id);
    if (!this.#isBlocked(id)) this.#parts.ledger.setBlocked(id, false);
  }

  /** Drops the machine's block and failure count without updating the ledger. */
  forget(id: string): void {
    this.#machines.delete(id);
    this.#failures.delete(id);
  }

  /** Whether the machine's offering is sold out. */
  isOfferingBlocked(id: string): boolean {
    return this.#offeringBlockOf(id) !== null;
  }

  /** Blocks every Speculative machine of this machine's offering for the back-off of the offering. */
  blockOffering(id: string, why: string): void {
    const key = this.#offeringOf(id);
    if (key === null) return;
    const text = textOf(key);
    const known = this.#offerings.get(text);
    // Concurrent purchases that fail together count as one failure.
    if (known?.blocked) return;
    const { clock, random, offeringBackoff } = this.#parts;
    const failures = (known?.failures ?? 0) + 1;
    const wait = backoffMs(random, offeringBackoff, failures);
    const blocked: BlockedOffering = { ...key, kind: 'out-of-stock', why, untilMs: clock.now() + wait };
    this.#offerings.set(text, { blocked, failures });
    clock.after(wait, () => {
      const current = this.#offerings.get(text);
      if (current?.blocked !== blocked) return;
      this.#offerings.set(text, { blocked: null, failures });
      this.#unblockAll(this.#speculativeOf(key));
    });
    for (const other of this.#speculativeOf(key)) this.#parts.ledger.setBlocked(other, true);
  }

  /** Blocks all free machines of a provider. A second call only replaces the reason. */
  blockProvider(provider: string, kind: 'provider-unreachable' | 'provider-denies', why: string): void {
    const isKnown = this.#providers.has(provider);
    this.#providers.set(provider, { kind, why, untilMs: null });
    if (isKnown) return;
    for (const id of this.#freeOf(provider)) this.#parts.ledger.setBlocked(id, true);
  }

  unblockProvider(provider: string): void {
    if (this.#providers.delete(provider)) this.#unblockAll(this.#freeOf(provider));
  }

  #endOffering(key: OfferingKey): void {
    const text = textOf(key);
    const known = this.#offerings.get(text);
    this.#offerings.delete(text);
    if (known?.blocked) this.#unblockAll(this.#speculativeOf(key));
  }

  #block(blocked: BlockedMachine): void {
    this.#machines.set(blocked.machine, blocked);
    this.#parts.ledger.setBlocked(blocked.machine, true);
  }

  #unblockAll(ids: readonly string[]): void {
    for (const id of ids) if (!this.#isBlocked(id)) this.#parts.ledger.setBlocked(id, false);
  }

  #isBlocked(id: string): boolean {
    return this.of(id) !== null;
  }

  /** The block of the machine's provider or, for a Speculative machine, of its offering. */
  #sharedBlockOf(id: string): Block | null {
    if (this.#offerings.size === 0 && this.#providers.size === 0) return null;
    const { ledger } = this.#parts;
    const state = ledger.statusOf(id)?.state;
    // Only acquisition is blocked: a bound machine may be drained once its provider answers again.
    if (state !== MachineState.Speculative && state !== MachineState.Idle) return null;
    const provider = ledger.ownerOf(id);
    const blocked = provider === undefined ? undefined : this.#providers.get(provider);
    if (blocked !== undefined) return blocked;
    return state === MachineState.Speculative ? this.#offeringBlockOf(id) : null;
  }

  #offeringBlockOf(id: string): BlockedOffering | null {
    const offering = this.#offeringOf(id);
    return offering === null ? null : (this.#offerings.get(textOf(offering))?.blocked ?? null);
  }

  #offeringOf(id: string): OfferingKey | null {
    const { ledger } = this.#parts;
    const record = ledger.recordOf(id);
    const provider = ledger.ownerOf(id);
    if (record === null || provider === undefined) return null;
    const { instanceType, zone, capacityType } = record;
    return { provider, instanceType, zone, capacityType };
  }

  #speculativeOf(key: OfferingKey): readonly string[] {
    const text = textOf(key);
    const ids = [...this.#parts.ledger.idsIn(key.provider, SPECULATIVE)];
    return ids.filter((id) => {
      const offering = this.#offeringOf(id);
      return offering !== null && textOf(offering) === text;
    });
  }

  /** Speculative and Idle machines of a provider, blocked ones included. */
  #freeOf(provider: string): readonly string[] {
    return [...this.#parts.ledger.idsIn(provider, FREE)];
  }
}

function textOf({ provider, instanceType, zone, capacityType }: OfferingKey): string {
  return JSON.stringify([provider, instanceType, zone, capacityType]);
}
