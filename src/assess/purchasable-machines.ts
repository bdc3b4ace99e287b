// The machines that a simulated fleet may buy. What the Needs could use at most may be millions of machines for a catalogue of
// thousands of offerings, and a decision uses few of them: so the fleet has a bounded number, and more of an offering once a
// decision leaves none of it, which is then made again. Pure.

import {
  covers,
  effectiveAllocatable,
  type LedgerMachine,
  MachineState,
  meetsAll,
  type Need,
  type ResourceVector,
  sameTermOf,
  strictSpreadOf,
} from '../model/index.ts';
import type { CatalogueEntry } from '../provider/index.ts';
import { COMMON } from './machines.ts';

/**
 * Machines at first, all offerings together, unless the Needs use fewer. With fewer, large fleets are decided more often;
 * with more, each decision takes longer and more memory.
 */
const FIRST_MACHINES = 20_000;

/** Machines that all offerings together reserve for Needs that are served as a whole. They then mix offerings of a domain. */
const MOST_RESERVED = 50_000;

/** An offering in one zone. */
interface Offer {
  /** Without an id. */
  readonly machine: LedgerMachine;
  readonly offers: ResourceVector;
  /** Machines that the Needs would use if there were no other offering. */
  most: number;
  /** Machines that stay free for one Need that is served as a whole: fewer would hide a domain from it. */
  reserve: number;
  machines: number;
}

export class PurchasableMachines {
  readonly #offers: ReadonlyMap<string, Offer>;
  readonly #firstMachines: number;
  #largestReserve = 1;

  constructor(catalogue: readonly CatalogueEntry[], firstMachines = FIRST_MACHINES) {
    this.#firstMachines = firstMachines;
    this.#offers = new Map(
      catalogue.flatMap((entry) =>
        entry.zones.map((zone) => [`${entry.name}/${zone}`, offerOf(entry, zone)] as const),
      ),
    );
  }

  /** New machines that Needs may use beside those for which machines exist. */
  forNeeds(needs: readonly Need[]): readonly LedgerMachine[] {
    const offers = [...this.#offers.values()];
    for (const offer of offers)
      for (const need of needs) {
        const machines = mostUsed(offer, need);
        offer.most += machines;
        if (isWhole(need)) offer.reserve = Math.max(offer.reserve, machines);
      }
    const level = levelOf(
      offers.map(({ most }) => most),
      this.#firstMachines,
    );
    this.#largestReserve = levelOf(
      offers.map(({ reserve }) => reserve),
      MOST_RESERVED,
    );
    return this.#grown((offer) => Math.max(level, this.#reserveOf(offer)));
  }

  /** New machines of the offerings of which a decision left too few; `left`: ids of the machines that it did not buy. */
  afterDecision(left: Iterable<string>): readonly LedgerMachine[] {
    const free = new Map<string, number>();
    for (const id of left) {
      const name = id.slice(0, id.lastIndexOf('/'));
      free.set(name, (free.get(name) ?? 0) + 1);
    }
    return this.#grown((offer, name) => {
      const reserve = this.#reserveOf(offer);
      return (free.get(name) ?? 0) < reserve ? 2 * offer.machines + reserve : 0;
    });
  }

  #reserveOf({ reserve }: Offer): number {
    return Math.min(reserve, this.#largestReserve);
  }

  #grown(wanted: (offer: Offer, name: string) => number): readonly LedgerMachine[] {
    const added: LedgerMachine[] = [];
    for (const [name, offer] of this.#offers) {
      const machines = Math.min(offer.most, wanted(offer, name));
      for (; offer.machines < machines; offer.machines++)
        added.push({ ...offer.machine, id: `${name}/${offer.machines}` });
    }
    return added;
  }
}

/** The highest limit per offering with which all together have at most `total`; at least 1. */
function levelOf(wanted: readonly number[], total: number): number {
  let left = total;
  for (const [i, most] of wanted.toSorted((a, b) => a - b).entries()) {
    const share = Math.floor(left / (wanted.length - i));
    if (most > share) return Math.max(1, share);
    left -= most;
  }
  return Number.POSITIVE_INFINITY;
}

function offerOf(entry: CatalogueEntry, zone: string): Offer {
  const { allocatable, capacityType, instanceType, interruptionProbability, pricePerHour, resources } = entry;
  const machine: LedgerMachine = {
    ...COMMON,
    ...{ id: '', instanceType, zone, capacityType, pricePerHour, interruptionProbability },
    ...{ resources, allocatable },
    labels: new Map([...DEFAULT_LABELS, ...entry.labels]),
    state: MachineState.Speculative,
  };
  return { machine, offers: effectiveAllocatable(machine), most: 0, reserve: 1, machines: 0 };
}

/** Pods ask for an architecture even if their authors do not know it; a catalogue that says nothing means the usual one. */
const DEFAULT_LABELS: readonly (readonly [string, string])[] = [
  ['kubernetes.io/arch', 'amd64'],
  ['kubernetes.io/os', 'linux'],
];

/** Machines that a Need would use if it used no other; one more, for what is rounded. */
function mostUsed({ machine, offers }: Offer, { aggregate, minUnit, profile, setAside }: Need): number {
  if (setAside === true || !covers(offers, minUnit) || !meetsAll(machine, profile.requirements)) return 0;
  let most = 1;
  for (const [name, units] of aggregate) {
    const each = offers.get(name) ?? 0;
    if (each > 0) most = Math.max(most, Math.ceil(units / each));
  }
  return most + 1;
}

/** Gangs and Needs with a strict spread compare domains by all that each could hold. */
function isWhole({ profile }: Need): boolean {
  return sameTermOf(profile) !== undefined || strictSpreadOf(profile) !== undefined;
}
