// How rows of a cluster share machines, read from the verdicts of a shard's last cycle, and what must hold of it. Called by
// invariants.ts and world.ts, which report what is found here as violations of `shares-fit` and `nothing-beyond-hold`.

import {
  add,
  canonicalResources,
  covers,
  isZero,
  NO_RESOURCES,
  parseQuantity,
  type ResourceVector,
  subtract,
} from '../../src/model/index.ts';
import type { InlineController, Quantities } from '../../src/shard/index.ts';

export interface SharingRow {
  readonly id: string;
  readonly wants: ResourceVector;
  /** The largest pod. */
  readonly pod: ResourceVector;
  readonly isMet: boolean;
  /** Gangs neither lend nor borrow. */
  readonly isGang: boolean;
  readonly canBorrow: boolean;
  readonly claimed: readonly string[];
  readonly shares: readonly { readonly machine: string; readonly amount: ResourceVector }[];
}

/** The rows of a cluster as of the last cycle, by rank. */
export function rowsOf({ controller }: InlineController, cluster: string): readonly SharingRow[] {
  const { items } = controller.ask('needs', { cluster, onlyUnmet: false, limit: 1000 });
  return items.flatMap((need) => {
    const explained = controller.ask('explain', { need: need.id });
    if (explained === null) return [];
    const isGang = need.requirements.some((text) => text.includes(' Same'));
    return {
      ...{ id: need.id, wants: vectorOf(need.wants), pod: vectorOf(need.minUnit), isMet: need.isMet },
      ...{ isGang, canBorrow: need.group === '', claimed: explained.claimed },
      shares: explained.shares.map(({ machine, amount }) => ({ machine, amount: vectorOf(amount) })),
    };
  });
}

function vectorOf(quantities: Quantities): ResourceVector {
  return new Map(Object.entries(quantities).map(([name, text]) => [name, parseQuantity(text, name, 'up')]));
}

/** What is wrong with the shares of a cluster; null if rows take of no machine more than it has, of any resource. */
export function overfilled(
  rows: readonly SharingRow[],
  offerOf: (machine: string) => ResourceVector,
): string | null {
  const lent = lentOf(rows);
  const lenders = new Set(rows.filter(({ isGang }) => !isGang).flatMap(({ claimed }) => claimed));
  for (const [machine, amount] of lent) {
    const shared = `${canonicalResources(amount)} of ${machine} are shared`;
    if (!lenders.has(machine)) return `${shared}, and no row lends it`;
    if (!covers(offerOf(machine), amount))
      return `${shared}, which has ${canonicalResources(offerOf(machine))}`;
  }
  for (const row of rows) {
    const borrowed = sumOf(row.shares.map(({ amount }) => amount));
    if (!isZero(borrowed) && !row.canBorrow)
      return `${row.id} may not share and counts on ${canonicalResources(borrowed)}`;
    if (row.isGang || row.claimed.length === 0) continue;
    const kept = row.claimed.map((machine) => subtract(offerOf(machine), lent.get(machine) ?? NO_RESOURCES));
    const offered = sumOf(row.claimed.map(offerOf));
    const wanted = least(offered, subtract(row.wants, borrowed));
    if (!covers(sumOf(kept), wanted))
      return `${row.id} takes ${canonicalResources(wanted)} of machines that lend all but ${canonicalResources(sumOf(kept))}`;
    const hasRoom = !isZero(borrowed) || !row.claimed.some((machine) => covers(offerOf(machine), row.pod));
    if (!hasRoom && !kept.some((amount) => covers(amount, row.pod)))
      return `${row.id} lends the machine of its largest pod`;
  }
  return null;
}

/**
 * A row that claims machines although better-ranked rows leave over what it could share; null if there is none. A lender
 * with k machines has, whatever their prices, one that leaves over at least the k-th part of all that is left over.
 * `mayShare` excludes machines that some rows avoid. Measured in cpu, of which machines have the least for what rows want.
 */
export function claimsInVain(
  rows: readonly SharingRow[],
  offerOf: (machine: string) => ResourceVector,
  mayShare: (machine: string) => boolean,
): string | null {
  const lent = lentOf(rows);
  let leastLeft = 0;
  let lender = '';
  for (const { id, isGang, canBorrow, claimed, shares, wants, pod } of rows) {
    const podCpu = cpuIn(pod);
    if (canBorrow && claimed.length > 0 && podCpu > 0 && leastLeft >= podCpu)
      return `${id} claims ${claimed.join(' ')}, and ${lender} leaves over at least ${leastLeft} m of a machine`;
    if (isGang || claimed.length === 0 || !claimed.every(mayShare)) continue;
    const wanted = cpuIn(wants) - cpuIn(sumOf(shares.map(({ amount }) => amount)));
    const kept = claimed.map((machine) => subtract(offerOf(machine), lent.get(machine) ?? NO_RESOURCES));
    const left = cpuIn(sumOf(kept)) - wanted;
    if (left / claimed.length <= leastLeft) continue;
    leastLeft = left / claimed.length;
    lender = id;
  }
  return null;
}

/**
 * Whether a row has given up its share of a machine whose risk has grown in proportion to its price. Both maps have the
 * risk of each machine, and of each shared machine by `ROW MACHINE`.
 */
export function riskierThan(
  before: ReadonlyMap<string, number>,
  after: ReadonlyMap<string, number>,
): boolean {
  for (const [share, risk] of before) {
    const machine = share.split(' ')[1];
    if (machine !== undefined && !after.has(share) && (after.get(machine) ?? 0) > risk) return true;
  }
  return false;
}

function lentOf(rows: readonly SharingRow[]): ReadonlyMap<string, ResourceVector> {
  const lent = new Map<string, ResourceVector>();
  for (const { shares } of rows)
    for (const { machine, amount } of shares)
      lent.set(machine, add(lent.get(machine) ?? NO_RESOURCES, amount));
  return lent;
}

function sumOf(amounts: readonly ResourceVector[]): ResourceVector {
  return amounts.reduce(add, NO_RESOURCES);
}

/** The lesser of both in each dimension. */
function least(a: ResourceVector, b: ResourceVector): ResourceVector {
  return new Map([...a].map(([name, units]) => [name, Math.min(units, b.get(name) ?? 0)]));
}

function cpuIn(amounts: ResourceVector): number {
  return amounts.get('cpu') ?? 0;
}
