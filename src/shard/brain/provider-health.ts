// How a provider does by what its machines do: which of them fail, by zone and error, against all that have a host. A
// provider whose calls are answered may have a zone in which nothing works.

import type { Standing } from '../../fleet/index.ts';
import { CapacityType, excerpt, type Machine, MachineState } from '../../model/index.ts';
import { classOfError, type ErrorClass } from '../error-class.ts';
import type { LossView, ProviderHealth, ZoneHealth } from '../views.ts';
import type { ActionRecord } from './actuation/records.ts';
import type { Book } from './book.ts';

/** How long a failure counts after the machine has left Failed: clouds clean up hosts within seconds. */
const RECENT_MS = 5 * 60_000;
/** Machines that are followed as failing. With more than that, a provider is failing whatever the exact share is. */
const MAX_FAILING = 20_000;
/** Fewer say nothing about a zone. */
const MIN_FAILING = 3;
const MAX_ZONES = 20;
/** Of a provider's words, in a status that goes out after every cycle: bytes. */
const MAX_ERROR_BYTES = 200;

const { Idle, Configuring, Configured, Draining, Deleting, Failed } = MachineState;
const WITH_HOST: ReadonlySet<MachineState> = new Set([Idle, Configuring, Configured, Draining, Deleting]);
const WORKS: ReadonlySet<MachineState> = new Set([Idle, Configured]);

interface Failing {
  readonly provider: string;
  readonly zone: string;
  readonly errorClass: ErrorClass;
  readonly error: string;
  readonly isPurchase: boolean;
  readonly atMs: number;
  isFailedNow: boolean;
}

export const ALL_FINE: ProviderHealth = {
  ...{ state: 'fine', machines: 0, failing: 0, failedPurchases: 0 },
  zones: [],
};

export class ProvidersHealth {
  readonly #book: Book;
  readonly #now: () => number;
  /** By provider and zone: machines with a host that has not failed. */
  readonly #hosts = new Map<string, Map<string, number>>();
  readonly #failing = new Map<string, Failing>();

  constructor(book: Book, now: () => number) {
    this.#book = book;
    this.#now = now;
  }

  hostsIn(provider: string, zone: string): number {
    return this.#hosts.get(provider)?.get(zone) ?? 0;
  }

  /** A machine moved, came or went; the book still says what was known before. */
  moved(id: string, before: Standing | null, after: Standing | null, seen: Machine | null): void {
    const provider = this.#book.ownerOf(id);
    if (provider === undefined) return;
    const zone = this.#book.zoneOf(id);
    const newZone = seen?.zone ?? zone;
    const hadHost = before !== null && WITH_HOST.has(before.state);
    const hasHost = after !== null && WITH_HOST.has(after.state);
    if (hadHost !== hasHost || zone !== newZone) {
      if (hadHost) this.#count(provider, zone, -1);
      if (hasHost) this.#count(provider, newZone, 1);
    }
    if (after?.state === Failed && seen !== null) this.#failed(id, provider, before, seen);
    else this.#recovered(id, after);
  }

  lost({ machine, provider, zone, errorClass, error, atMs }: LossView): void {
    if (this.#failing.has(machine)) return;
    this.#add(machine, {
      ...{ provider, zone, errorClass, error: excerpt(error, MAX_ERROR_BYTES) },
      ...{ isPurchase: false, atMs, isFailedNow: false },
    });
  }

  /** Purchases that came to nothing for a reason of the provider's. */
  ended({ kind, machine, provider, zone, outcome, errorClass, message }: ActionRecord): void {
    if (kind !== 'Provision' || outcome === 'success' || errorClass === null) return;
    if (errorClass === 'called-off' || errorClass === 'cluster' || outcome === 'superseded') return;
    this.#add(machine, {
      ...{ provider, zone, errorClass, error: excerpt(message, MAX_ERROR_BYTES) },
      ...{ isPurchase: true, atMs: this.#now() },
      isFailedNow: this.#book.standing(machine)?.state === Failed,
    });
  }

  /** By provider; those without a failing machine are left out. `isHidden`: machines that a person has forgotten. */
  views(isHidden: (machine: string) => boolean): ReadonlyMap<string, ProviderHealth> {
    const oldestMs = this.#now() - RECENT_MS;
    const byProvider = new Map<string, Failing[]>();
    for (const [machine, failing] of this.#failing) {
      if (!failing.isFailedNow && failing.atMs < oldestMs) this.#failing.delete(machine);
      else if (!isHidden(machine)) push(byProvider, failing.provider, failing);
    }
    const views = new Map<string, ProviderHealth>();
    for (const [provider, failing] of byProvider) views.set(provider, this.#viewOf(provider, failing));
    return views;
  }

  /** Machines with a host that has not failed, of a provider. */
  hostsOf(provider: string): number {
    let sum = 0;
    for (const count of this.#hosts.get(provider)?.values() ?? []) sum += count;
    return sum;
  }

  #viewOf(provider: string, failing: readonly Failing[]): ProviderHealth {
    const machines = this.hostsOf(provider) + failing.length;
    const zones = [...Map.groupBy(failing, ({ zone }) => zone)].map(([zone, there]) =>
      zoneHealth(zone, this.hostsIn(provider, zone) + there.length, there),
    );
    zones.sort((a, b) => b.failing / b.machines - a.failing / a.machines || b.failing - a.failing);
    return {
      state: providerState(machines, failing.length, zones),
      ...{ machines, failing: failing.length, failedPurchases: purchases(failing) },
      zones: zones.slice(0, MAX_ZONES),
    };
  }

  #failed(id: string, provider: string, before: Standing | null, seen: Machine): void {
    const known = this.#failing.get(id);
    if (known?.isFailedNow === true) return;
    this.#add(id, {
      ...{
        provider,
        zone: seen.zone,
        errorClass: classOfError(seen.lastError, {
          zone: seen.zone,
          isSpot: seen.capacityType === CapacityType.Spot,
        }),
      },
      ...{ error: excerpt(seen.lastError, MAX_ERROR_BYTES), isFailedNow: true, atMs: this.#now() },
      isPurchase: before?.state === MachineState.Creating,
    });
  }

  #recovered(id: string, after: Standing | null): void {
    const known = this.#failing.get(id);
    if (known === undefined) return;
    if (after !== null && WORKS.has(after.state)) this.#failing.delete(id);
    else known.isFailedNow = false;
  }

  #add(machine: string, failing: Failing): void {
    if (this.#failing.size < MAX_FAILING || this.#failing.has(machine)) this.#failing.set(machine, failing);
  }

  #count(provider: string, zone: string, by: number): void {
    let zones = this.#hosts.get(provider);
    if (zones === undefined) {
      zones = new Map();
      this.#hosts.set(provider, zones);
    }
    const count = (zones.get(zone) ?? 0) + by;
    if (count === 0) zones.delete(zone);
    else zones.set(zone, count);
  }
}

function zoneHealth(zone: string, machines: number, failing: readonly Failing[]): ZoneHealth {
  const [most] = [...Map.groupBy(failing, ({ errorClass }) => errorClass).values()].sort(
    (a, b) => b.length - a.length,
  );
  const { errorClass, error } = most!.at(-1)!;
  return {
    ...{ zone: excerpt(zone), state: zoneState(machines, failing.length), machines, failing: failing.length },
    ...{ failedPurchases: purchases(failing), errorClass, error },
  };
}

function zoneState(machines: number, failing: number): ProviderHealth['state'] {
  if (failing < MIN_FAILING) return 'fine';
  const share = failing / machines;
  if (share >= 0.5) return 'failing';
  return share >= 0.2 ? 'degraded' : 'fine';
}

/** One dark zone of several leaves a provider degraded: the others go on. */
function providerState(
  machines: number,
  failing: number,
  zones: readonly ZoneHealth[],
): ProviderHealth['state'] {
  if (failing < MIN_FAILING) return 'fine';
  if (failing / machines >= 0.5) return 'failing';
  return failing / machines >= 0.05 || zones.some(({ state }) => state !== 'fine') ? 'degraded' : 'fine';
}

function purchases(failing: readonly Failing[]): number {
  return failing.reduce((sum, { isPurchase }) => sum + Number(isPurchase), 0);
}

function push(lists: Map<string, Failing[]>, name: string, failing: Failing): void {
  const list = lists.get(name);
  if (list === undefined) lists.set(name, [failing]);
  else list.push(failing);
}
