// What would help rows that are not met. Rows ask about the same patterns again and again, so what a pattern can use is
// put together once per cycle: how many machines match it, and of every size the cheapest known machine.

import { effectiveCost, MachineState, type UnmetDetail } from '../model/index.ts';
import type { Cycle } from './cycle.ts';
import { NONE } from './turns.ts';
import type { Unmet } from './unmet.ts';

/** The known machine of one size that costs least, then comes first by id. */
interface Sample {
  /** A class of this size. */
  readonly classNumber: number;
  readonly cost: number;
  readonly slot: number;
}

export class Supply {
  readonly #cycle: Cycle;
  readonly #matching = new Map<number, UnmetDetail['matching']>();
  /** By pattern and dollars, and for gangs by domain. */
  readonly #samples = new Map<string, readonly Sample[]>();
  /** By class: the size of its machines as a text. */
  readonly #sizes: string[] = [];

  constructor(cycle: Cycle) {
    this.#cycle = cycle;
  }

  /** Machines of any cluster that meet the requirements, whatever their size, claims and holds. */
  matching(pattern: number): UnmetDetail['matching'] {
    let matching = this.#matching.get(pattern);
    if (matching === undefined) {
      matching = matchingOf(this.#cycle, pattern);
      this.#matching.set(pattern, matching);
    }
    return matching;
  }

  /**
   * So many machines like a known one would do: fewest, then cheapest, then by id. A gang counts what its domain could
   * give it already, and wants the rest there.
   */
  extra({ turn, deficit }: Unmet): UnmetDetail['extraSupply'] {
    const cycle = this.#cycle;
    const { machines } = cycle.fleet;
    const gang = cycle.gangs.get(turn);
    const rest = gang?.missing ?? deficit;
    let best: { readonly count: number; readonly sample: Sample } | null = null;
    for (const sample of this.#samplesOf(turn, gang?.domain ?? NONE)) {
      const count = machinesNeeded(cycle, rest, sample.classNumber);
      if (count === Number.POSITIVE_INFINITY || (best !== null && count > best.count)) continue;
      if (best === null || count < best.count || this.#isBetter(sample, best.sample))
        best = { count, sample };
    }
    return best === null ? null : { count: best.count, like: machines.idOf(best.sample.slot) };
  }

  #isBetter(a: Sample, b: Sample): boolean {
    if (a.cost !== b.cost) return a.cost < b.cost;
    return this.#cycle.fleet.machines.idOrder(a.slot, b.slot) < 0;
  }

  #samplesOf(turn: number, domain: number): readonly Sample[] {
    const { fleet, turns } = this.#cycle;
    const pattern = turns.pattern[turn]!;
    const { interruptionDollars } = fleet.demand.profiles.entryOf(turns.profile[turn]!);
    const memo = `${pattern}/${interruptionDollars}/${domain}`;
    let samples = this.#samples.get(memo);
    if (samples === undefined) {
      const fitting =
        domain === NONE
          ? fleet.patterns.patternOf(pattern).fittingClasses()
          : this.#cycle.stocks.of(turn).classesIn(domain);
      samples = this.#sampled(fitting, interruptionDollars);
      this.#samples.set(memo, samples);
    }
    return samples;
  }

  #sampled(fitting: Iterable<number>, dollars: number): Sample[] {
    const { classes, machines } = this.#cycle.fleet;
    const bySize = new Map<string, Sample>();
    for (const c of fitting) {
      const cost = effectiveCost(classes.price[c]!, classes.probability[c]!, dollars);
      const size = this.#sizeOf(c);
      const known = bySize.get(size);
      if (known !== undefined && known.cost < cost) continue;
      const sample = { classNumber: c, cost, slot: machines.firstOf(c) };
      if (known === undefined || this.#isBetter(sample, known)) bySize.set(size, sample);
    }
    return [...bySize.values()];
  }

  #sizeOf(c: number): string {
    const { classes, dimensions } = this.#cycle.fleet;
    const from = c * dimensions.stride;
    this.#sizes[c] ??= classes.allocatable.data.subarray(from, from + dimensions.count).join();
    return this.#sizes[c];
  }
}

/** Machines of any cluster that meet the requirements, whatever their size, claims and holds. */
export function matchingOf(cycle: Cycle, pattern: number): UnmetDetail['matching'] {
  const { machines, patterns } = cycle.fleet;
  const matching = { idle: 0, speculative: 0, configured: 0 };
  for (const c of patterns.patternOf(pattern).matchingClasses()) {
    matching.idle += machines.countOf(c, MachineState.Idle);
    matching.speculative += machines.countOf(c, MachineState.Speculative);
    matching.configured += machines.countOf(c, MachineState.Configured);
  }
  return matching;
}

function machinesNeeded(cycle: Cycle, deficit: Float64Array, classNumber: number): number {
  const { classes, dimensions } = cycle.fleet;
  let count = 0;
  for (let d = 0; d < dimensions.count; d++) {
    if (deficit[d]! === 0) continue;
    const offered = classes.allocatable.data[classNumber * dimensions.stride + d]!;
    count = Math.max(count, offered === 0 ? Number.POSITIVE_INFINITY : wholeTimes(deficit[d]!, offered));
  }
  return count;
}

/** ⌈amount ÷ each⌉ without a rounding error. */
function wholeTimes(amount: number, each: number): number {
  const over = amount % each;
  return (amount - over) / each + (over > 0 ? 1 : 0);
}
