// Health of a provider by its machines: failing ones by zone and error, relative to all that have a host. A provider
// that answers all calls may still have a zone in which nothing works. Counts are updated as machines move, so the
// cost of a view depends on the zones with failing machines, not on the size of the fleet. Fed by losses.ts; read by
// the status and the metrics.

import { firstOf } from '../../collections/first-of.ts';
import type { MachineChange, MachineStatus } from '../../fleet/index.ts';
import { CapacityType, codedText, excerpt, type Machine, MachineState } from '../../model/index.ts';
import type { ActionRecord } from '../actuation/action-records.ts';
import type { LossView, ProviderHealth, ZoneHealth } from '../views.ts';
import { classOfError } from './error-class.ts';
import type { MachineLedger } from './machine-ledger.ts';
import { type Failure, ZoneCounts } from './zone-counts.ts';

/** How long a failing machine counts that is not, or no longer, Failed: clouds remove failed hosts within seconds. */
const RECENT_MS = 5 * 60_000;
/** Bound on such machines, the size of the largest fleet; beyond it the oldest are dropped. */
const MAX_FADING = 500_000;
/** With fewer failing machines a zone or a provider counts as fine. */
const MIN_FAILING = 3;
const MAX_ZONES = 20;
/** Bytes kept of a provider's message: the status is sent after every cycle. */
const MAX_ERROR_BYTES = 200;

const { Idle, Configuring, Configured, Draining, Deleting, Failed } = MachineState;
const WITH_HOST: ReadonlySet<MachineState> = new Set([Idle, Configuring, Configured, Draining, Deleting]);
const WORKS: ReadonlySet<MachineState> = new Set([Idle, Configured]);

interface Failing extends Failure {
  readonly provider: string;
  readonly zone: string;
  readonly atMs: number;
}

export const ALL_FINE: ProviderHealth = {
  ...{ state: 'fine', machines: 0, failing: 0, failedPurchases: 0 },
  zones: [],
};

export class ProvidersHealth {
  readonly #ledger: MachineLedger;
  readonly #now: () => number;
  readonly #providers = new Map<string, ZoneCounts>();
  /** By machine: every Failed machine and every machine in `#fading`. */
  readonly #failing = new Map<string, Failing>();
  /** By machine that fails but is not Failed: since when; oldest first. */
  readonly #fading = new Map<string, number>();

  constructor(ledger: MachineLedger, now: () => number) {
    this.#ledger = ledger;
    this.#now = now;
  }

  hostsIn(provider: string, zone: string): number {
    return this.#providers.get(provider)?.hostsIn(zone) ?? 0;
  }

  /** Number of a provider's machines with a host that has not failed. */
  hostsOf(provider: string): number {
    return this.#providers.get(provider)?.hosts ?? 0;
  }

  /**
   * When a Failed machine failed, by the shard's clock; 0 for a machine that is not Failed. After a restart machines that
   * are Failed already count as failed at the start.
   */
  failedMs(id: string): number {
    return this.#fading.has(id) ? 0 : (this.#failing.get(id)?.atMs ?? 0);
  }

  /** To be called from a listener of the ledger. */
  moved({ id, before, after, factsBefore, seen }: MachineChange): void {
    const provider = this.#ledger.ownerOf(id);
    if (provider === undefined) return;
    const zone = factsBefore?.zone ?? '';
    const newZone = seen?.zone ?? zone;
    const hadHost = before !== null && WITH_HOST.has(before.state);
    const hasHost = after !== null && WITH_HOST.has(after.state);
    if (hadHost !== hasHost || zone !== newZone) {
      if (hadHost) this.#of(provider).addHost(zone, -1);
      if (hasHost) this.#of(provider).addHost(newZone, 1);
    }
    if (after?.state === Failed && seen !== null) this.#failed(id, provider, before, seen);
    else this.#recovered(id, after);
  }

  lost({ machine, provider, zone, errorClass, error, atMs }: LossView): void {
    if (this.#failing.has(machine)) return;
    this.#add(machine, { provider, zone, errorClass, isPurchase: false, atMs }, error);
    this.#fade(machine);
  }

  /** Counts purchases that failed for a reason on the provider's side. */
  ended({ kind, machine, provider, zone, outcome, errorClass, message }: ActionRecord): void {
    if (kind !== 'Provision' || outcome === 'success' || errorClass === null) return;
    if (errorClass === 'called-off' || errorClass === 'cluster' || outcome === 'superseded') return;
    this.#add(machine, { provider, zone, errorClass, isPurchase: true, atMs: this.#now() }, message);
    if (this.#ledger.statusOf(machine)?.state !== Failed) this.#fade(machine);
  }

  /** By provider; those without a failing machine are omitted. `hidden`: machines that a person has hidden. */
  views(hidden: Iterable<string>): ReadonlyMap<string, ProviderHealth> {
    this.#expire();
    const hiddenOf = this.#countsOf(hidden);
    const views = new Map<string, ProviderHealth>();
    for (const [provider, counts] of this.#providers) {
      const view = viewOf(counts, hiddenOf.get(provider));
      if (view.failing > 0) views.set(provider, view);
    }
    return views;
  }

  #countsOf(machines: Iterable<string>): ReadonlyMap<string, ZoneCounts> {
    const counts = new Map<string, ZoneCounts>();
    for (const machine of machines) {
      const failing = this.#failing.get(machine);
      if (failing !== undefined) countsIn(counts, failing.provider).addFailing(failing.zone, failing, '');
    }
    return counts;
  }

  #failed(id: string, provider: string, before: MachineStatus | null, seen: Machine): void {
    if (this.#failing.has(id) && !this.#fading.has(id)) return;
    const { zone, lastError, capacityType } = seen;
    const errorClass = classOfError(lastError, { zone, isSpot: capacityType === CapacityType.Spot });
    const isPurchase = before?.state === MachineState.Creating;
    this.#add(id, { provider, zone, errorClass, isPurchase, atMs: this.#now() }, codedText(lastError).text);
  }

  #recovered(id: string, after: MachineStatus | null): void {
    if (!this.#failing.has(id)) return;
    if (after !== null && WORKS.has(after.state)) this.#remove(id);
    else if (!this.#fading.has(id)) this.#fade(id);
  }

  #add(machine: string, failing: Failing, error: string): void {
    this.#remove(machine);
    this.#failing.set(machine, failing);
    this.#of(failing.provider).addFailing(failing.zone, failing, excerpt(error, MAX_ERROR_BYTES));
  }

  #fade(machine: string): void {
    this.#fading.set(machine, this.#now());
    const [oldest] = this.#fading.keys();
    if (this.#fading.size > MAX_FADING) this.#remove(oldest!);
  }

  #expire(): void {
    const nowMs = this.#now();
    for (const [machine, sinceMs] of this.#fading) {
      if (sinceMs > nowMs) {
        // The clock was set back.
        this.#fading.delete(machine);
        this.#fading.set(machine, nowMs);
      } else if (nowMs - sinceMs > RECENT_MS) this.#remove(machine);
      else return;
    }
  }

  #remove(machine: string): void {
    const known = this.#failing.get(machine);
    if (known === undefined) return;
    this.#failing.delete(machine);
    this.#fading.delete(machine);
    this.#of(known.provider).removeFailing(known.zone, known);
  }

  #of(provider: string): ZoneCounts {
    return countsIn(this.#providers, provider);
  }
}

function countsIn(all: Map<string, ZoneCounts>, provider: string): ZoneCounts {
  const counts = all.get(provider) ?? new ZoneCounts();
  all.set(provider, counts);
  return counts;
}

function viewOf(counts: ZoneCounts, hidden: ZoneCounts = new ZoneCounts()): ProviderHealth {
  let [failing, failedPurchases] = [0, 0];
  const zones: ZoneHealth[] = [];
  for (const zone of counts.failing(hidden)) {
    failing += zone.failing;
    failedPurchases += zone.failedPurchases;
    const machines = counts.hostsIn(zone.zone) + zone.failing;
    zones.push({ ...zone, state: zoneState(machines, zone.failing), machines });
  }
  const machines = counts.hosts + failing;
  const worst = firstOf(
    zones,
    MAX_ZONES,
    (a, b) => b.failing / b.machines - a.failing / a.machines || b.failing - a.failing,
  );
  return {
    ...{ state: providerState(machines, failing, zones), machines, failing, failedPurchases },
    zones: worst.first.map((zone) => ({ ...zone, zone: excerpt(zone.zone) })),
  };
}

function zoneState(machines: number, failing: number): ProviderHealth['state'] {
  if (failing < MIN_FAILING) return 'fine';
  const share = failing / machines;
  if (share >= 0.5) return 'failing';
  return share >= 0.2 ? 'degraded' : 'fine';
}

/** One dark zone of several makes a provider degraded, because the other zones still work. */
function providerState(
  machines: number,
  failing: number,
  zones: readonly ZoneHealth[],
): ProviderHealth['state'] {
  if (failing < MIN_FAILING) return 'fine';
  if (failing / machines >= 0.5) return 'failing';
  return failing / machines >= 0.05 || zones.some(({ state }) => state !== 'fine') ? 'degraded' : 'fine';
}
