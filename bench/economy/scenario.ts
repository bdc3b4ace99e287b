// One seed of `bench economy`: demand, a catalogue, and which offerings each group of pods may use. Every policy, the packer
// and the lower bound read the same scenario.

import { meetsAll, type Profile } from '../../src/model/index.ts';
import { type Amounts, sumOf } from './amounts.ts';
import { type Catalogue, generateCatalogue, withoutSmallShapes } from './catalogue.ts';
import { type Demand, generateDemand } from './demand.ts';
import type { Parameters } from './parameters.ts';

export interface Scenario {
  readonly seed: number;
  readonly parameters: Parameters;
  readonly demand: Demand;
  readonly catalogue: Catalogue;
  readonly eligibility: Eligibility;
}

/** `all` has every shape; `large` lacks those below `largeShapes` cores. */
export type CatalogueName = 'all' | 'large';

export function generateScenario(
  parameters: Parameters,
  seed: number,
  name: CatalogueName = 'all',
): Scenario {
  const every = generateCatalogue(parameters, seed);
  const catalogue = name === 'all' ? every : withoutSmallShapes(every, parameters.catalogue.largeShapes);
  return scenarioOf(parameters, seed, generateDemand(parameters, seed), catalogue);
}

export function scenarioOf(
  parameters: Parameters,
  seed: number,
  demand: Demand,
  catalogue: Catalogue,
): Scenario {
  return { seed, parameters, demand, catalogue, eligibility: new Eligibility(catalogue) };
}

/** Which offerings meet the requirements of a profile, computed once for each set of requirements. */
export class Eligibility {
  readonly #catalogue: Catalogue;
  readonly #byProfile = new Map<Profile, Uint8Array>();
  readonly #byRequirements = new Map<string, Uint8Array>();

  constructor(catalogue: Catalogue) {
    this.#catalogue = catalogue;
  }

  /** By offering: 1 if pods of the profile may run on it. Profiles with equal requirements have the same array. */
  of(profile: Profile): Uint8Array {
    let eligible = this.#byProfile.get(profile);
    if (eligible === undefined) {
      const { requirements } = profile;
      const text = JSON.stringify(requirements);
      eligible = this.#byRequirements.get(text);
      eligible ??= Uint8Array.from(this.#catalogue, (each) => (meetsAll(each, requirements) ? 1 : 0));
      this.#byRequirements.set(text, eligible);
      this.#byProfile.set(profile, eligible);
    }
    return eligible;
  }
}

/** The sum of all pods. */
export function totalOf(demand: Demand): Amounts {
  return sumOf(demand.flatMap(({ groups }) => groups.flatMap(({ pods }) => pods)));
}
