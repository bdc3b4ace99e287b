// How rows of a cluster share machines, read from the verdicts of a shard's last cycle, and what must hold of it. Every
// machine of a world offers cpu only, so amounts are millicores. Called by invariants.ts and world.ts, which report what is
// found here as violations of `shares-fit` and `nothing-beyond-hold`.

import { parseQuantity } from '../../src/model/quantity.ts';
import type { InlineController, Quantities } from '../../src/shard/index.ts';

export interface SharingRow {
  readonly id: string;
  readonly wantsCpu: number;
  readonly podCpu: number;
  readonly isMet: boolean;
  /** Gangs neither lend nor borrow. */
  readonly isGang: boolean;
  readonly canBorrow: boolean;
  readonly claimed: readonly string[];
  readonly shares: readonly { readonly machine: string; readonly cpu: number }[];
}

/** The rows of a cluster as of the last cycle, by rank. */
export function rowsOf({ controller }: InlineController, cluster: string): readonly SharingRow[] {
  const { items } = controller.ask('needs', { cluster, onlyUnmet: false, limit: 1000 });
  return items.flatMap((need) => {
    const explained = controller.ask('explain', { need: need.id });
    if (explained === null) return [];
    const isGang = need.requirements.some((text) => text.includes(' Same'));
    return {
      ...{ id: need.id, wantsCpu: cpuIn(need.wants), podCpu: cpuIn(need.minUnit), isMet: need.isMet },
      ...{ isGang, canBorrow: need.group === '', claimed: explained.claimed },
      shares: explained.shares.map(({ machine, amount }) => ({ machine, cpu: cpuIn(amount) })),
    };
  });
}

function cpuIn(quantities: Quantities): number {
  return parseQuantity(quantities['cpu'] ?? '0', 'cpu', 'up');
}

/** What is wrong with the shares of a cluster; null if rows take of no machine more than it has. */
export function overfilled(rows: readonly SharingRow[], offerOf: (machine: string) => number): string | null {
  const lent = lentOf(rows);
  const lenders = new Set(rows.filter(({ isGang }) => !isGang).flatMap(({ claimed }) => claimed));
  for (const [machine, cpu] of lent) {
    if (!lenders.has(machine)) return `${cpu} m of ${machine} are shared, and no row lends it`;
    if (cpu > offerOf(machine)) return `${cpu} m of ${machine} are shared, which has ${offerOf(machine)} m`;
  }
  for (const row of rows) {
    const borrowed = sum(row.shares.map(({ cpu }) => cpu));
    if (borrowed > 0 && !row.canBorrow) return `${row.id} may not share and counts on ${borrowed} m`;
    if (row.isGang || row.claimed.length === 0) continue;
    const kept = row.claimed.map((machine) => offerOf(machine) - (lent.get(machine) ?? 0));
    const offered = sum(row.claimed.map(offerOf));
    const wanted = Math.min(offered, row.wantsCpu - borrowed);
    if (sum(kept) < wanted) return `${row.id} takes ${wanted} m of machines that lend all but ${sum(kept)} m`;
    const hasRoom = borrowed > 0 || row.claimed.every((machine) => offerOf(machine) < row.podCpu);
    if (!hasRoom && Math.max(...kept) < row.podCpu) return `${row.id} lends the machine of its largest pod`;
  }
  return null;
}

/**
 * A row that claims machines although better-ranked rows leave over what it could share; null if there is none. A lender
 * with k machines has, whatever their prices, one that leaves over at least the k-th part of all that is left over.
 * `mayShare` excludes machines that some rows avoid.
 */
export function claimsInVain(
  rows: readonly SharingRow[],
  offerOf: (machine: string) => number,
  mayShare: (machine: string) => boolean,
): string | null {
  const lent = lentOf(rows);
  let leastLeft = 0;
  let lender = '';
  for (const { id, isGang, canBorrow, claimed, shares, wantsCpu, podCpu } of rows) {
    if (canBorrow && claimed.length > 0 && podCpu > 0 && leastLeft >= podCpu)
      return `${id} claims ${claimed.join(' ')}, and ${lender} leaves over at least ${leastLeft} m of a machine`;
    if (isGang || claimed.length === 0 || !claimed.every(mayShare)) continue;
    const wanted = wantsCpu - sum(shares.map(({ cpu }) => cpu));
    const left = sum(claimed.map((machine) => offerOf(machine) - (lent.get(machine) ?? 0))) - wanted;
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

function lentOf(rows: readonly SharingRow[]): ReadonlyMap<string, number> {
  const lent = new Map<string, number>();
  for (const { shares } of rows)
    for (const { machine, cpu } of shares) lent.set(machine, (lent.get(machine) ?? 0) + cpu);
  return lent;
}

function sum(amounts: readonly number[]): number {
  return amounts.reduce((total, amount) => total + amount, 0);
}
