// Every behaviour, in the order they run, and how run.ts chooses among them.

import { BigFleetError } from '../../../model/index.ts';
import { BASELINE } from '../behaviours/baseline.ts';
import { CONCURRENCY } from '../behaviours/concurrency.ts';
import { DURABILITY } from '../behaviours/durability.ts';
import { FAULTS } from '../behaviours/faults.ts';
import { FENCING } from '../behaviours/fencing.ts';
import { FIELDS } from '../behaviours/fields.ts';
import { LIFECYCLE } from '../behaviours/lifecycle.ts';
import { LISTS } from '../behaviours/lists.ts';
import { METADATA } from '../behaviours/metadata.ts';
import { PROPERTIES } from '../behaviours/properties.ts';
import { SCALE } from '../behaviours/scale.ts';
import { TRANSITIONS } from '../behaviours/transitions.ts';
import { AREAS, type Behaviour, type Profile } from './behaviour.ts';

export const BEHAVIOURS: readonly Behaviour[] = [
  ...BASELINE,
  ...LIFECYCLE,
  ...TRANSITIONS,
  ...FENCING,
  ...CONCURRENCY,
  ...METADATA,
  ...FIELDS,
  ...LISTS,
  ...PROPERTIES,
  ...FAULTS,
  ...DURABILITY,
  ...SCALE,
];

export interface Selection {
  /** All behaviours of these profiles; with none, every behaviour there is. */
  readonly profiles: readonly Profile[];
  /** Of those only these, by id (`B301`), id with `x` for any digit (`B3xx`), or area (`fencing`); with none, all. */
  readonly only: readonly string[];
}

export function selectBehaviours({ profiles, only }: Selection): readonly Behaviour[] {
  const inProfiles = BEHAVIOURS.filter(
    (behaviour) => profiles.length === 0 || behaviour.profiles.some((profile) => profiles.includes(profile)),
  );
  if (only.length === 0) return inProfiles;
  const matchers = only.map(matcherOf);
  const chosen = inProfiles.filter((behaviour) => matchers.some((matches) => matches(behaviour)));
  if (chosen.length > 0) return chosen;
  throw new BigFleetError(
    'BF_USAGE',
    `No behaviour of ${profiles.join(', ')} is named by ${only.join(', ')}.`,
  );
}

function matcherOf(word: string): (behaviour: Behaviour) => boolean {
  const wanted = word.toLowerCase();
  if ((AREAS as readonly string[]).includes(wanted)) return ({ area }) => area === wanted;
  const pattern = /^b\d+x+$/.test(wanted) ? new RegExp(`^${wanted.replaceAll('x', '\\d')}$`) : undefined;
  const matches = ({ id }: Behaviour) => pattern?.test(id.toLowerCase()) ?? id.toLowerCase() === wanted;
  if (BEHAVIOURS.some(matches)) return matches;
  throw new BigFleetError('BF_USAGE', `"${word}" is no behaviour, no pattern such as B3xx and no area.`);
}
