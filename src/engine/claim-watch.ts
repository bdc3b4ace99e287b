// Checks from cycle to cycle whether met rows keep their machines. While demand and machines do not change, a claim that
// moves is a bug: it would evict pods for nothing. Only machines that a cycle served again are compared; all other claims
// are unchanged. The shard calls it after each cycle (planning/cycles.ts) for the metric `met_claim_changes_total`; it
// changes nothing.

import { withRoom } from '../collections/columns.ts';
import { MachineState } from '../model/index.ts';
import { NONE } from './assign/ranked-rows.ts';
import type { Cycle } from './cycle.ts';

const NO_SLOTS = new Uint32Array(0);

export class ClaimWatch {
  /** By slot: key of the row that claimed the Configured machine, 0 if none did. */
  #before = new Uint32Array(0);
  /** By cluster: its Configured machines when it was last compared; some may have left it since. */
  readonly #known = new Map<number, Uint32Array>();
  /** Configured machines claimed in the last pass; these claims are made again in every cycle. */
  #claimedInPass: Uint32Array = NO_SLOTS;
  /** The cycle observed last, and its number. */
  #cycle: Cycle | null = null;
  #number = 0;

  /**
   * Number of Configured machines that rows of the last cycle no longer claim, though the rows still exist and are met.
   * Machines that are to be replaced are given up on purpose.
   */
  observe(cycle: Cycle): number {
    const { fleet } = cycle;
    const isNext = cycle === this.#cycle && cycle.number === this.#number + 1;
    const clusters = isNext ? cycle.served : fleet.clusters.sorted();
    this.#cycle = cycle;
    this.#number = cycle.number;
    this.#before = withRoom(this.#before, fleet.machines.size);
    const unmet = new Set(cycle.result.unmet.map(({ rankedRow }) => rankedRow));
    // A slot that occurs twice is compared with itself the second time.
    let changes = this.#compare(cycle, this.#claimedInPass, unmet);
    this.#claimedInPass = claimedInPass(cycle);
    changes += this.#compare(cycle, this.#claimedInPass, unmet);
    for (const cluster of clusters) {
      changes += this.#compare(cycle, this.#known.get(cluster) ?? NO_SLOTS, unmet);
      const configured = configuredOf(cycle, cluster);
      changes += this.#compare(cycle, configured, unmet);
      if (configured.length === 0) this.#known.delete(cluster);
      else this.#known.set(cluster, configured);
    }
    return changes;
  }

  #compare(
    { claims, rankedRows, retiring, fleet }: Cycle,
    slots: Uint32Array,
    unmet: ReadonlySet<number>,
  ): number {
    const { state } = fleet.machines;
    const before = this.#before;
    let changes = 0;
    for (let i = 0; i < slots.length; i++) {
      const slot = slots[i]!;
      if (state[slot] !== MachineState.Configured) {
        before[slot] = 0;
        continue;
      }
      const rankedRow = claims.claimedBy[slot]! - 1;
      const key = rankedRow < 0 ? 0 : rankedRows.key[rankedRow]!;
      if (before[slot] !== 0 && before[slot] !== key && retiring.marked[slot] !== 1) {
        const owner = rankedRows.ofKey[before[slot]!] ?? NONE;
        if (owner !== NONE && !unmet.has(owner)) changes++;
      }
      before[slot] = key;
    }
    return changes;
  }
}

function configuredOf({ fleet: { machines } }: Cycle, cluster: number): Uint32Array {
  const slice = machines.boundOf(cluster)?.configured;
  return slice === undefined
    ? NO_SLOTS
    : machines.arena.data.slice(slice.offset, slice.offset + slice.length);
}

function claimedInPass({ claims, credits, fleet, pass }: Cycle): Uint32Array {
  if (pass.count === 0) return NO_SLOTS;
  const { state } = fleet.machines;
  const configured: number[] = [];
  for (const { from, to } of claims.ofPass(credits.end)) {
    for (let i = from; i < to; i++)
      if (state[claims.slots[i]!] === MachineState.Configured) configured.push(claims.slots[i]!);
  }
  return Uint32Array.from(configured);
}
