// The least any policy can pay for a scenario, as a linear program, solved by HiGHS.
//
//   minimise    Σ price[o] × y[o]                                    over offerings that are bought
//   subject to  Σ_o x[s,o,d] ≥ demand[s,d]                           every set of pods s, every resource d
//               Σ_s x[s,o,d] ≤ offers[o,d] × y[o]                    every offering o, every resource d
//               0 ≤ y[o];  y[o] ≤ number of owned machines of o      x ≥ 0, and only where pods of s may run on o
//
// s are the pods of all clusters with equal requirements. Every policy satisfies these constraints: it has whole machines
// (y may be a fraction), each in one cluster (y may serve several), and its rows, or its pods, take no more of a machine
// than it offers and use only offerings that meet their requirements. Resources are divided independently, because the
// engine covers sums per resource: a row may have its cores from one machine and its memory from another. The largest pod
// of a row, and whether pods fit, are not part of it; so the optimum is below what any policy can reach. Owned machines
// are paid by every policy, used or not, and their price is added as a constant.
//
// The solution of the dual program divides the bound among clusters. value[s,d] is what one unit more of a demand costs,
// and rent[o] what one owned machine more would save. Every set of machines that serves some demand costs at least the
// value of that demand, if owned machines are charged their rent. So costs of single clusters can be compared as well.

import highsModule from 'highs';
import type { Profile } from '../../src/model/index.ts';
import { type Amounts, plus } from './amounts.ts';
import { type Offering, ownedPrice } from './catalogue.ts';
import type { ClusterDemand, Demand } from './demand.ts';
import type { Eligibility, Scenario } from './scenario.ts';

/** The package declares its types as those of a CommonJS module, but Node loads its ES module, whose default is the loader. */
const loadHighs = highsModule as unknown as typeof highsModule.default;
/** Compiled once for all programs. */
let loading: ReturnType<typeof loadHighs> | undefined;

/** Units of the program: cores, GiB, GPUs. Close magnitudes keep the solver exact. */
const UNITS: Amounts = [1000, 1024, 1];

/** Pods with equal requirements. */
interface DemandSet {
  readonly eligible: Uint8Array;
  readonly amounts: Amounts;
}

export class LowerBound {
  readonly dollarsPerHour: number;
  readonly #eligibility: Eligibility;
  /** By demand set: dollars an hour for a unit of each resource. */
  readonly #values: ReadonlyMap<Uint8Array, Amounts>;
  readonly #rents: ReadonlyMap<number, number>;

  constructor(
    dollarsPerHour: number,
    eligibility: Eligibility,
    values: ReadonlyMap<Uint8Array, Amounts>,
    rents: ReadonlyMap<number, number>,
  ) {
    this.dollarsPerHour = dollarsPerHour;
    this.#eligibility = eligibility;
    this.#values = values;
    this.#rents = rents;
  }

  /** The least that machines of one cluster cost, with owned ones charged their rent. */
  ofCluster({ groups }: ClusterDemand): number {
    let dollars = 0;
    for (const { profile, pods } of groups) for (const pod of pods) dollars += this.#valueOf(profile, pod);
    return dollars;
  }

  /** What a machine counts in the costs of a single cluster: its price, or the rent of an owned one. */
  chargeFor({ index, owned, pricePerHour }: Offering): number {
    return owned === null ? pricePerHour : (this.#rents.get(index) ?? 0);
  }

  #valueOf(profile: Profile, pod: Amounts): number {
    const value = this.#values.get(this.#eligibility.of(profile))!;
    return pod.reduce((sum, amount, d) => sum + (amount / UNITS[d]!) * value[d]!, 0);
  }
}

export async function lowerBoundOf(scenario: Scenario): Promise<LowerBound> {
  const { catalogue, demand, eligibility } = scenario;
  const sets = demandSets(demand, eligibility);
  loading ??= loadHighs();
  const highs = await loading;
  const solution = highs.solve(programText(sets, catalogue));
  if (solution.Status !== 'Optimal') throw new Error(`the lower bound has no optimum: ${solution.Status}`);
  const values = new Map<Uint8Array, [number, number, number]>(
    sets.map(({ eligible }) => [eligible, [0, 0, 0]]),
  );
  for (const row of solution.Rows) {
    if (!('Dual' in row)) continue;
    const [kind, set, d] = row.Name.split('_');
    if (kind === 'demand') values.get(sets[Number(set)]!.eligible)![Number(d)] = Math.max(0, row.Dual);
  }
  const rents = new Map<number, number>();
  for (const { index, owned } of catalogue) {
    const column = solution.Columns[`y_${index}`];
    if (owned !== null && column !== undefined && 'Dual' in column)
      rents.set(index, Math.max(0, -column.Dual));
  }
  return new LowerBound(solution.ObjectiveValue + ownedPrice(catalogue), eligibility, values, rents);
}

function demandSets(demand: Demand, eligibility: Eligibility): DemandSet[] {
  const sums = new Map<Uint8Array, Amounts>();
  for (const { groups } of demand) {
    for (const { profile, pods } of groups) {
      const eligible = eligibility.of(profile);
      sums.set(eligible, pods.reduce(plus, sums.get(eligible) ?? [0, 0, 0]));
    }
  }
  return [...sums].map(([eligible, amounts]) => ({ eligible, amounts }));
}

/** The program in the LP format of CPLEX; one term per line, since readers limit the length of a line. */
function programText(sets: readonly DemandSet[], catalogue: readonly Offering[]): string {
  const demands: string[] = [];
  const users = new Map<string, string[]>();
  for (const [s, { amounts, eligible }] of sets.entries()) {
    for (const [d, amount] of amounts.entries()) {
      if (amount === 0) continue;
      const terms: string[] = [];
      for (const { index, offers } of catalogue) {
        if (eligible[index] === 0 || offers[d] === 0) continue;
        const term = `x_${s}_${index}_${d}`;
        terms.push(term);
        const use = `${index}_${d}`;
        const others = users.get(use);
        if (others === undefined) users.set(use, [term]);
        else others.push(term);
      }
      demands.push(`demand_${s}_${d}: ${terms.join('\n + ')} >= ${amount / UNITS[d]!}`);
    }
  }
  const capacities = [...users].map(([use, terms]) => {
    const [index, d] = use.split('_').map(Number);
    const offered = catalogue[index!]!.offers[d!]! / UNITS[d!]!;
    return `capacity_${use}: ${terms.join('\n + ')}\n - ${offered} y_${index} <= 0`;
  });
  const prices = catalogue
    .filter(({ owned }) => owned === null)
    .map(({ index, pricePerHour }) => `${pricePerHour} y_${index}`);
  const limits = catalogue
    .filter(({ owned }) => owned !== null)
    .map(({ index, owned }) => `y_${index} <= ${owned}`);
  return [
    'Minimize',
    `cost: ${prices.join('\n + ')}`,
    'Subject To',
    ...demands,
    ...capacities,
    'Bounds',
    ...limits,
    'End',
    '',
  ].join('\n');
}
